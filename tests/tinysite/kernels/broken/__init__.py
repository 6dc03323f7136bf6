"""Kernels that fail."""
