"""Softmax over rows, each row whole in one step."""
