"""A server of the official SDK: `sdk_server.py` on standard input and output, `sdk_server.py PORT` on HTTP."""

import sys

from mcp.server.mcpserver import MCPServer  # type: ignore[import-not-found]  # in an environment of its own

server = MCPServer("referee", version="1.0")


@server.tool()  # type: ignore[untyped-decorator]  # as above
def find_order(order_id: str) -> dict[str, str]:
    """Find an order."""
    return {"order_id": order_id, "status": "paid"}


@server.tool()  # type: ignore[untyped-decorator]  # as above
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


if len(sys.argv) > 1:
    server.run(transport="streamable-http", port=int(sys.argv[1]))
else:
    server.run()
