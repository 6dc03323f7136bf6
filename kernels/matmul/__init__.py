"""A matrix product as a grid of tiles, with the shape of the tiles as parameters."""
