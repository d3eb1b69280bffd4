"""Where a store keeps its files: a folder or an object store, behind one interface; and leases on batches."""
