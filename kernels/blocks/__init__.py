"""Rows cut into blocks in every way that a `BlockSpec` knows."""
