"""Reading the dumps of the final program, on small ones written by hand."""

from __future__ import annotations

import pytest

# The lanes import jax, which the reader of dumps does not.
from track.evidence.lanes.tpu_bundles import Program, read_bundles, read_use

# A loop of eight turns, whose branch back at 0x4 shows no depth, with an inner loop of one turn at 0x2.
DUMP = """
= control target key start
LB: loop body
= control target key end

     0   :  { %s9_s1 = smov 0 /* copy
                for cssa */ } /* entry bundle: %k = custom-call(%x) */
   0x1 LB: > { %s4_s2 = sphi %s9_s1, %s5_s2 } /* Start region 7 :: Start region 8 */
   0x2 LB: >> { %v1 = vld [vmem:[#allocation3_spill]]  ;;  %p8_p8 = pmov 1 } /* Start region 9 */
   0x3   : > { %10 = sbr.rel (!%p8_p8) target = $region9  ;;  %s5_s2 = sadd.s32 1, %s4_s2 }
   0x4   :  { %11 = sbr.rel (!%p7_p4) target = $region7 }
   0x5   :  {} /* End region 8 */
   0x6 PF:  { %12 = vst [vmem:[%s1]] %v1  ;;  %p7_p4 = scmp.ge.s32.totalorder %s5_s2, 8 /* loop exit test */ }
   0x7   :  { %13 = vsyncpa [#allocation5], 1 }
"""
USE = """== CAPACTIY:
MXU, VLOAD, VSTORE:SPILL
    4     3     1
== UTILIZATION:
0 0 0
0 0 0
2 1 0
0 0 1
0 0 0
0 0 0
0 0 0
0 0 0
"""


@pytest.fixture
def program() -> Program:
    """The program of the dump."""
    return Program("k", read_bundles(DUMP), read_use(USE))


def test_a_bundle_is_an_entry_however_many_lines_its_comments_take(program: Program) -> None:
    assert len(program.bundles) == 8
    assert program.bundles[0].tidy == "0 : { %s9_s1 = smov 0 }"


def test_the_branch_back_and_its_shadow_lie_in_their_loop(program: Program) -> None:
    assert [bundle.depth for bundle in program.bundles] == [0, 1, 2, 2, 1, 1, 0, 0]


def test_a_loop_turns_as_often_as_its_counter_says(program: Program) -> None:
    assert program.trips == {1: 8, 2: 1}


def test_the_program_is_cut_where_loops_and_branches_begin_and_end(program: Program) -> None:
    regions = program.regions()
    assert [(region.name, region.bundles, region.depth, region.trips) for region in regions] == [
        ("start", 1, 0, 0),
        ("loop", 1, 1, 8),
        ("loop", 2, 2, 1),
        ("resume", 2, 1, 8),
        ("end", 2, 0, 0),
    ]
    assert regions[2].units == {"MXU": 1, "VLOAD": 1, "VSTORE:SPILL": 1}
    assert regions[2].use == {"MXU": "20", "VLOAD": "10", "VSTORE:SPILL": "01"}


def test_spills_are_counted(program: Program) -> None:
    assert program.spills() == {"stores": 1, "loads": 0, "scalars": 1}


def test_a_table_of_another_length_is_an_error() -> None:
    with pytest.raises(ValueError, match="8 bundles, but the table of unit use has"):
        Program("k", read_bundles(DUMP), read_use(USE + "0 0 0\n"))
