"""Typical mistakes with asynchronous copies, each a kernel that is wrong on purpose."""
