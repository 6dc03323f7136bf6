"""A kernel that raises, with text in its error that a page must not run."""

from kernels.contract import Case, Kernel, Tolerance


def raises(x, *, interpret):
    raise ValueError(f"{x.shape} {interpret is None} <script>document.title = 'taken'</script> | not a cell")


KERNELS = (
    Kernel(
        "raises",
        raises,
        lambda x: x,
        (Case("ones", lambda rng: (rng.standard_normal((8, 128)),), Tolerance(0, 0, "equal")),),
        ("hlo", "tpu-interpret"),
        dict.fromkeys(("gpu-interpret", "tpu-aot", "gpu-aot", "h200"), "it raises before a compiler sees it"),
    ),
)
