"""A sum over rows, built up in one output block while the grid goes by."""
