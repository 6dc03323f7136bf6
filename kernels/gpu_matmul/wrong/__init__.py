"""A mistake with tensor cores: a kernel that is wrong on purpose."""
