"""The tools an agent may use: Python functions and YAML with canned answers, behind one door, the ToolBox."""
