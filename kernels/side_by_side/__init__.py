"""A grid whose steps take turns on one chip and run side by side on another."""
