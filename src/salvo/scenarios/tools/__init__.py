"""The tools an agent may use: Python functions and YAML with canned answers, behind one door, the ToolBox."""

from salvo.scenarios.tools.base import Tool
from salvo.scenarios.tools.box import ToolBox
from salvo.scenarios.tools.function import tool

__all__ = ["Tool", "ToolBox", "tool"]
