"""The two commands. `--help` imports nothing that it does not need."""
