"""Two kernels that run through `pltpu.emit_pipeline`."""
