"""The store: runs, batches, recordings and their index, in `.salvo/` or elsewhere."""
