"""What is read from the tools' texts: ptxas' report, SASS, dumps of passes."""

from __future__ import annotations

from pathlib import Path

import pytest
from jax.errors import JaxRuntimeError

from track.evidence.lanes import extracts, gpu_aot, gpu_forms, gpu_targets, ptxas
from track.evidence.texts import fault_of

REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'body' for 'sm_90a'
ptxas info    : Function properties for body
    416 bytes stack frame, 412 bytes spill stores, 1236 bytes spill loads
ptxas info    : Used 255 registers, used 3 barriers, 416 bytes cumulative stack size, 16 bytes smem
ptxas info    : Compile time = 2.387 ms
"""

REFUSED = "ptxas /tmp/evidence-x_1/verdict-y2/tempfile-some.host-d9ee6a94783ac1f3-26687-66170ffec6cef, line"
PTXAS = f"""\
{REFUSED} 181; error   : Instruction 'wgmma.fence' not supported on .target 'sm_100a'
{REFUSED} 223; error   : Instruction 'wgmma.wait_group' not supported on .target 'sm_100a'
{REFUSED} 237; error   : Instruction 'wgmma.wait_group' not supported on .target 'sm_100a'
ptxas fatal   : Ptx assembly aborted due to errors
"""

SASS = """\
body:
.text.body:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   ISETP.GE.U32.AND P1, PT, R2, 0x20, PT ;
        /*0020*/               @P1 BRA `(.L_x_0) ;
        /*0030*/              @!P0 LDG.E.64 R2, desc[UR4][R2.64] ;
        /*0040*/             @!UP0 UTMALDG.2D [UR8], [UR4] ;
        /*0050*/                   HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], R24 ;
        /*0060*/                   FFMA R6, R2, R0.reuse, 1 ;
        /*0070*/                   STL [R1], R6 ;
        /*0080*/                   NOP;
        /*0090*/                   EXIT ;
"""

PTX = """\
.version 9.0
.target sm_90a

.visible .entry body(
)
{
	.loc	1 41 0
$L__tmp0:
	mov.u32 	%r1, %tid.x; // a comment
	ret;
}
	.file	1 "/somewhere/kernel.py"
	.section	.debug_macinfo	{
	.b8 0
	}
"""

DUMP = """\
// -----// IR Dump Before First: first ('builtin.module' operation: @k) //----- //
#loc1 = /somewhere/k.py:1:2 to :3
"builtin.module"() ({
  %0 = "tt.load"(%arg0) : (!tt.ptr<f32>) -> f32 "get:"(#loc1)
}) : () -> () [unknown]
// -----// IR Dump Before (anonymous namespace)::Check: unknown<x> ('builtin.module' operation: @k) //----- //
#loc7 = /somewhere/k.py:1:2 to :3
"builtin.module"() ({
  %0 = "tt.load"(%arg0) : (!tt.ptr<f32>) -> f32 "get:"(#loc7)
}) : () -> () [unknown]
// -----// IR Dump Before ConvertTritonToTritonGPU: convert{target=cuda:90} ('builtin.module' operation: @k) //----- //
"builtin.module"() ({
  %0 = "tt.load"(%arg0) : (!tt.ptr<f32>) -> f32 [unknown]
}) : () -> () [unknown]
// -----// IR Dump Before CSEPass: cse ('builtin.module' operation: @k) //----- //
"builtin.module"() ({
  %0 = "ttg.load"(%arg0) : (!tt.ptr<f32>) -> f32 [unknown]
}) : () -> () [unknown]
// -----// IR Dump Before ConvertTritonGPUToLLVM: to-llvm ('builtin.module' operation: @k) //----- //
"builtin.module"() ({
}) : () -> () [unknown]
// -----// IR Dump Before Last: last ('builtin.module' operation: @k) //----- //
"llvm.func"() ({
}) : () -> () [unknown]
"""


def test_every_figure_of_the_report_is_read() -> None:
    assert ptxas.report(REPORT) == {
        "registers": 255,
        "spill_stores": 412,
        "spill_loads": 1236,
        "stack": 416,
        "shared": 16,
        "barriers": 3,
    }


def test_what_the_report_does_not_mention_is_none_of_it() -> None:
    said = "ptxas info    : Used 12 registers\n"
    assert ptxas.report(said) == dict.fromkeys(ptxas.FIGURES, 0) | {"registers": 12}


def test_a_text_that_is_no_report_is_an_error_and_not_zero() -> None:
    with pytest.raises(LookupError, match="no report of ptxas"):
        ptxas.report("ptxas fatal   : Unresolved extern function")


def test_opcodes_lose_predicates_modifiers_and_nops() -> None:
    found = ptxas.opcodes(SASS)
    assert found == ["LDC", "ISETP", "BRA", "LDG", "UTMALDG", "HGMMA", "FFMA", "STL", "EXIT"]
    named = ["constant", "integer", "control", "global", "bulk copy", "tensor", "float", "local", "control"]
    assert [ptxas.class_of(opcode) for opcode in found] == named


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        ("UTCHMMA", "tensor"),
        ("LDTM", "tensor memory"),
        ("LDGSTS", "asynchronous copy"),
        ("LDSM", "shared"),
        ("HFMA2", "float"),
        ("MUFU", "special function"),
        ("F2FP", "conversion"),
        ("SHFL", "exchange"),
        ("S2UR", "move"),
        ("SYNCS", "barrier"),
        ("QQQ", "other"),
    ],
)
def test_an_opcode_is_in_the_class_of_what_it_uses(opcode: str, name: str) -> None:
    assert ptxas.class_of(opcode) == name


def test_plain_ptx_names_no_file_and_has_no_debugging() -> None:
    expected = (
        ".version 9.0\n.target sm_90a\n.visible .entry body(\n)\n{\n\tmov.u32 \t%r1, %tid.x; // a comment\n\tret;\n}\n"
    )
    assert ptxas.plain_ptx(PTX) == expected


def test_of_the_passes_those_are_kept_that_changed_more_than_locations() -> None:
    forms = list(gpu_forms.passes(DUMP))
    assert [(form.kind, form.stage) for form in forms] == [
        ("triton", "as XLA takes it up"),
        ("ttgir", "after ConvertTritonToTritonGPU"),
        ("ttgir", "after CSEPass"),
    ]
    assert forms[1].text == '"builtin.module"() ({\n  %0 = "ttg.load"(%arg0) : (!tt.ptr<f32>) -> f32\n}) : () -> ()\n'
    assert not any("somewhere" in form.text or "loc" in form.text for form in forms)


def test_an_extract_says_what_it_leaves_out() -> None:
    form = extracts.extract("ptx", "made up", "".join(f"line {number}\n\n" for number in range(1, 251)))
    lines = form.text.splitlines()
    assert form.lines == 250
    assert lines[199:] == ["line 200", "[cut: the first 200 of 250 lines]"]


def test_an_extract_names_no_folder_and_no_address() -> None:
    text = 'op("/home/some.one/a-b/k.py") loc("/tmp/x.py":1:2) at 0x7f0011223344 : !a/b 1/2 c[0x0][0x28]\n'
    assert extracts.extract("jaxpr", "made up", text).text == 'op("k.py") at 0x... : !a/b 1/2 c[0x0][0x28]\n'


def test_dynamic_shared_memory_is_the_constant_of_the_launch() -> None:
    constants = "  %c7 = arith.constant 7 : i32\n  %c9 = arith.constant 40968 : i32\n"
    assert gpu_forms.dynamic_shared(f"{constants}  gpu.launch dynamic_shared_memory_size %c9 {{") == 40968
    with pytest.raises(LookupError, match="does not say how much shared memory"):
        gpu_forms.dynamic_shared("gpu.launch {")


def test_launches_are_read_in_order(tmp_path: Path) -> None:
    text = (
        "001: kCustomKernel [source       | next=003 (2)] fusion grid: [2048, 1, 1] threads: [128, 1, 1]  "
        "shared_memory: 0 bytes\n"
        "002: kCustomCall [source | sink] kCustomCall\n"
        "003: kCustomKernel [prev=002 (1) | sink        ] forward grid: [8, 1, 4] threads: [128, 1, 1]  "
        "shared_memory: 81920 bytes\n"
    )
    (tmp_path / "module_0001.jit_f.thunk_sequence.txt").write_text(text)
    assert list(gpu_forms.launched(tmp_path).items()) == [("fusion", 0), ("forward", 81920)]


def test_only_the_description_of_the_blackwell_chip_is_assumed() -> None:
    hopper, blackwell = gpu_targets.TARGETS["sm90"], gpu_targets.TARGETS["sm100"]
    assert not hopper.assumed
    assert "assumed" in blackwell.assumed
    differing = [
        pair for pair in zip(hopper.config.split(), blackwell.config.split(), strict=True) if len(set(pair)) == 2
    ]
    assert differing == [("132", "148"), ("9", "10"), ('H200"', 'B200"'), ('H200"', 'B200"')]


FAILED = "INTERNAL: Mosaic GPU pass pipeline failed: 'gpu.binary' op ptxas exited with non-zero error code 65280"


def raised(said: str) -> None:
    raise JaxRuntimeError(said)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("INTERNAL: Pass pipeline failed", "INTERNAL: Pass pipeline failed"),
        (f"{FAILED}, output: {PTXAS}", FAILED),
    ],
    ids=["0.11", "0.12"],
)
def test_what_ptxas_refuses_is_said_once_and_names_no_temporary_file(said: str, expected: str, tmp_path: Path) -> None:
    """Up to 0.11 ptxas' report is only printed; from 0.12 the error goes on with it, too."""
    with pytest.raises(JaxRuntimeError) as caught:
        raised(said)
    fault = fault_of(gpu_aot.told(caught.value, f"loc(...): error: {PTXAS}"), tmp_path)
    assert (fault.of_jax, fault.file) == (True, __file__)
    assert fault.text.splitlines() == [
        f"jax.errors.JaxRuntimeError: {expected}",
        "ptxas: Instruction 'wgmma.fence' not supported on .target 'sm_100a'",
        "ptxas: Instruction 'wgmma.wait_group' not supported on .target 'sm_100a'",
        "ptxas: Ptx assembly aborted due to errors",
    ]


def test_an_error_that_is_not_of_ptxas_stays_as_it_is() -> None:
    error = ValueError("the grid has no steps")
    assert gpu_aot.told(error, "nothing of ptxas") is error
    assert not getattr(error, "__notes__", ())
