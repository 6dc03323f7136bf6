"""Lab 1.1: three first kernels, written by the learner. `lab.py` checks them, `solution.py` is one way to do it."""
