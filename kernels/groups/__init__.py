"""Sums over groups of rows, each as long as a table says, by `pl.BoundedSlice`."""
