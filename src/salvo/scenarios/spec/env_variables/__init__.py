"""Environment variables that a scenario file names: where they may stand, and which need a grant."""
