"""The web page and its API: one process, on loopback unless somebody asks for more."""
