"""From a name and a piece of quoted code to lines: symbols, fingerprints, quotes and the resolving ladder."""
