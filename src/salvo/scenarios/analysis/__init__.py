"""What stored runs show: summaries, comparisons, divergence. Pure."""
