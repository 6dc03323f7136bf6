"""Companion kernels: one folder a topic, each with its reference, its kernels and the cases they are run on."""
