"""Lab 1.2, Tiled matmul: `python kernels/lab_tiled_matmul/lab.py` checks what you have in labs/tiled_matmul.py.

The first run puts a skeleton there. `python kernels/lab_tiled_matmul/lab.py --help` lists what else there is.
"""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1]))  # run as a file, it finds the package that it is in

from kernels.labkit.cli import main  # noqa: E402 -- the line above finds it
from kernels.labkit.lab import Lab, Part  # noqa: E402 -- as above

LAB = Lab(
    "1.2",
    "Tiled matmul",
    FOLDER,
    "tiled_matmul.py",
    "language/tiled-matmul.md",
    (Part("matmul", ("matmul_kernel", "matmul")), Part("blocks", ("blocks",), after="matmul")),
)

if __name__ == "__main__":
    sys.exit(main(LAB, sys.argv[1:]))
