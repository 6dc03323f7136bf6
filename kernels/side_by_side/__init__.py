"""What takes turns in an interpreter and runs side by side on a chip."""
