"""The steps of one run, two runs step by step, and both made short enough to show."""
