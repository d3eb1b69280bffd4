"""What the runs of a batch came to: as numbers, on a terminal, and as files for other programs."""
