"""The web page and its API: one process, on loopback by default."""
