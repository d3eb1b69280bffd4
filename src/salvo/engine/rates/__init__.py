"""How fast each model may be called: what its provider states and accepts, shared by the workers of a command."""
