"""How an agent is run. An adapter for a provider is a few lines around the one tool loop."""
