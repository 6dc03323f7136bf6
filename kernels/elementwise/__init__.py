"""Three kernels that treat every element alike: relu(2x + 1), a sum of two arrays, and a product with one number."""
