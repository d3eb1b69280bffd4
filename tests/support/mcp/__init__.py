"""Small MCP servers for tests: a program on standard input and output, and one on loopback HTTP."""

import sys
from pathlib import Path

STDIO_SERVER = [sys.executable, str(Path(__file__).with_name("shop.py"))]
"""The command of a server with three tools; `shop.py` says what its options do."""
