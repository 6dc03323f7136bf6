"""A matrix product with the Triton backend of Pallas, which is deprecated at this pin."""
