"""An MCP server with two tools, in the standard library only: one message per line on standard input and output."""

import json
import sys
from typing import Any

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
STOCK = {"KETTLE-2": 3, "TOASTER-1": 0}
SKU = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"], "additionalProperties": False}
COUNT = {"type": "object", "properties": {"sku": {"type": "string"}, "left": {"type": "integer"}}, "required": ["left"]}
TOOLS = [
    {"name": "find_product", "description": "Says how many are left.", "inputSchema": SKU, "outputSchema": COUNT},
    {"name": "reserve", "description": "Reserves one.", "inputSchema": SKU, "outputSchema": COUNT},
]
INFO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "warehouse", "version": "1.0"}}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    sku = arguments.get("sku")
    if set(arguments) != {"sku"} or not isinstance(sku, str):
        return failed("The one argument is sku, a text.")
    if sku not in STOCK:
        return failed(f"There is no product {sku}.")
    if name == "reserve":
        if not STOCK[sku]:
            return failed(f"{sku} is sold out.")
        STOCK[sku] -= 1
    result = {"sku": sku, "left": STOCK[sku]}
    return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}


def failed(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "server/discover":
        return {"supportedVersions": [MODERN], **INFO}
    if method == "initialize":
        return {"protocolVersion": HANDSHAKE, **INFO}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return call(params["name"], params.get("arguments", {}))
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    result = result_of(message["method"], message.get("params", {}))
    if result is None:
        reply["error"] = {"code": -32601, "message": f"There is no method {message['method']}."}
    else:
        reply["result"] = {"resultType": "complete", **result}
    print(json.dumps(reply), flush=True)
