"""A pin on its way to another commit: which one is meant, what runs there, and what that changes."""
