"""One wrong kernel a file; none of them is to be copied."""
