"""Who runs which evaluation: the shared queue, leases, the names of processes, and notifications between them."""
