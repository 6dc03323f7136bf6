"""A matrix product on Hopper's tensor cores, with Mosaic GPU: `wgmma` in a warp-specialized pipeline."""
