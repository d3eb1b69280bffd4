"""How a database becomes the one that `tables` describes, from nothing or from an earlier version."""
