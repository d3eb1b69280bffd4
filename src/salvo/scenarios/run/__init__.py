"""Running an agent: the runner, its environment, adapters and tools."""
