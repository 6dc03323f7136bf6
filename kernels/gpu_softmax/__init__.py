"""Softmax of each row by one warpgroup, in registers, with Mosaic GPU."""
