"""Attention with an online softmax, forward and backward."""
