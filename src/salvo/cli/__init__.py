"""The two commands. What `--help` needs is all that is imported until a command is really called."""
