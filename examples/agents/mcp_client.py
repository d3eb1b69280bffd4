"""A program that knows nothing of Salvo: its MCP servers are in a file of the usual form, which is its argument."""

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

SERVERS = json.loads(Path(sys.argv[1]).read_text())["mcpServers"]


def ask(server: str, method: str, **params: Any) -> Any:
    place = SERVERS[server]
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"content-type": "application/json", **place["headers"]}
    with urllib.request.urlopen(urllib.request.Request(place["url"], json.dumps(body).encode(), headers)) as reply:
        return json.load(reply)["result"]


rate = ask("salvo", "tools/call", name="exchange_rate", arguments={"currency": "CHF"})
product = ask("warehouse", "tools/call", name="find_product", arguments={"sku": "KETTLE-2"})
left, francs = product["structuredContent"]["left"], rate["structuredContent"]["rate"] * 49.9
print(f"{left} kettles are left, at {francs:.2f} francs each.")
