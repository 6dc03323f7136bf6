"""RMS norm over rows, each row whole in one step."""
