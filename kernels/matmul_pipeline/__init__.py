"""The tiled matrix product once more, with its pipeline written out."""
