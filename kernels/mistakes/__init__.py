"""Typical mistakes, each a kernel that is wrong on purpose, with what every lane says of it."""
