"""Lab 1.2: a matrix product in tiles, written by the learner, and a shape of the tiles that fits two budgets."""
