"""What all labs share: the checker, the hints, the learner's folder. It needs jax and numpy, and no network."""
