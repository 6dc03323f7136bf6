"""An all-gather around a ring of devices, by remote DMA."""
