"""The tools of an agent: Python functions and YAML with fixed answers, called through the ToolBox."""
