"""Lab 1.1, First kernels: `python kernels/lab_first/lab.py` checks what you have written in labs/first_kernels.py.

The first run puts a skeleton there. `python kernels/lab_first/lab.py --help` lists what else there is.
"""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1]))  # run as a file, it finds the package that it is in

from kernels.labkit.cli import main  # noqa: E402 -- the line above finds it
from kernels.labkit.lab import Lab, Part  # noqa: E402 -- as above

LAB = Lab(
    "1.1",
    "First kernels",
    FOLDER,
    "first_kernels.py",
    "run-first/first-kernels.md",
    (
        Part("add", ("add_kernel", "add")),
        Part("scale", ("scale_kernel", "scale")),
        Part("reduce", ("reduce_kernel", "reduce")),
    ),
)

if __name__ == "__main__":
    sys.exit(main(LAB, sys.argv[1:]))
