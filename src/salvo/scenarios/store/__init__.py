"""`.salvo/` on disk: runs, batches, recordings and their index."""
