"""Two copies by a GPU's TMA unit, through shared memory, with Mosaic GPU."""
