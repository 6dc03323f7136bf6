"""A kernel that raises, with text in its error that a page must not run."""

import numpy as np

from kernels.contract import Case, Kernel, Tolerance


def raises(x, *, interpret):
    raise ValueError("<script>document.title = 'taken'</script> | not a cell")


KERNELS = (
    Kernel(
        "raises",
        raises,
        lambda x: x,
        (Case("ones", lambda rng: (np.ones((8, 128), np.float32),), Tolerance(0, 0, "equal")),),
        ("hlo", "tpu-interpret"),
    ),
)
