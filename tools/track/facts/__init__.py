"""Named numbers, each with the code that computes it from a source tree or from the package that runs."""
