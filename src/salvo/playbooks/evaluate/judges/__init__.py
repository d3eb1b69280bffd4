"""The judges: a model, or rules that need no key."""
