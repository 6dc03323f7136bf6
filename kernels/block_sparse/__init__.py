"""A block-sparse matrix product, whose index maps read prefetched scalars."""
