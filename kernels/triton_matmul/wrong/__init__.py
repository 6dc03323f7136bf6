"""A mistake with the Triton backend: a kernel that is wrong on purpose."""
