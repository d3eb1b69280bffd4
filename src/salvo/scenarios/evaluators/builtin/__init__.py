"""The built-in types of assertions, one per module, and what several of them share."""
