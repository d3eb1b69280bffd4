"""An MCP server in plain Python: `python shop.py [--era modern|handshake] [--fault NAME] [--log FILE]`.

It speaks over standard input and output; `answer` is also what the HTTP server of the tests answers with.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
ORDER = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}},
    "required": ["order_id"],
    "additionalProperties": False,
}
TOOLS: list[dict[str, Any]] = [
    {"name": "find_order", "description": "Finds an order.", "inputSchema": ORDER,
     "outputSchema": {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}},
    {"name": "issue_refund", "description": "Refunds an order.", "inputSchema": ORDER},
    {"name": "echo", "description": "Returns its environment.", "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}}},
]  # fmt: skip


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if name == "find_order" and arguments.keys() == {"order_id"} and isinstance(arguments["order_id"], str):
        order = {"order_id": arguments["order_id"], "status": "paid"}
        return {"content": [{"type": "text", "text": json.dumps(order)}], "structuredContent": order}
    if name == "issue_refund" and arguments.get("order_id") == "A-1001":
        return {"content": [{"type": "text", "text": "refunded A-1001"}]}
    if name == "echo":
        return {"content": [{"type": "text", "text": os.environ.get(arguments.get("name", ""), "not set")}]}
    return {"content": [{"type": "text", "text": f"{name} cannot do that"}], "isError": True}


def answer(message: dict[str, Any], era: str, tools: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the answer to a message; None for a notification."""
    if "id" not in message:
        return None
    method, params = message["method"], message.get("params", {})
    is_modern = params.get("_meta", {}).get(VERSION_KEY) == MODERN
    if (era == "handshake" and is_modern) or (era == "modern" and not is_modern):
        error = {"code": -32601 if era == "handshake" else -32022, "message": "not in this version"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    results: dict[str, Any] = {
        "server/discover": {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}},
        "initialize": {"protocolVersion": HANDSHAKE, "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}},
        "tools/list": {"tools": tools},
    }  # fmt: skip
    if method == "tools/call":
        result = call(params["name"], params.get("arguments", {}))
    elif method in results:
        result = results[method]
    else:
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": f"no {method}"}}
    return {
        "jsonrpc": "2.0",
        "id": message["id"],
        "result": {**result, **({"resultType": "complete"} if is_modern else {})},
    }


def misbehave(fault: str, method: str) -> None:
    """Do what is wrong before a message is answered."""
    if fault == "die-at-start" or (fault == "die" and method == "tools/call"):
        print("the database is gone", file=sys.stderr, flush=True)
        sys.exit(7)
    if fault == "hang-at-start" or (fault == "hang" and method == "tools/call"):
        time.sleep(600)
    if fault == "flood" and method == "tools/call":
        while True:
            sys.stderr.write("x" * 65536)
    if fault == "garbage" and method == "tools/call":
        print("Listening on port 8080 ...", flush=True)
    if fault == "no-result" and method == "tools/call":
        print(json.dumps({"jsonrpc": "2.0", "id": 3}), flush=True)
    if fault == "endless" and method == "tools/call":
        while True:
            sys.stdout.write("x" * 65536)
    if fault == "deaf":
        sys.stdout.close()
        os.close(1)
        time.sleep(600)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", default="")
    parser.add_argument("--fault", default="")
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    tools = TOOLS
    if options.log is not None:
        starts = len(options.log.read_text().splitlines()) if options.log.exists() else 0
        with options.log.open("a") as log:
            print(os.getpid(), file=log)
        if options.fault == "changes" and starts:
            tools = [{**TOOLS[0], "description": "Does something else."}, *TOOLS[2:]]
    if options.fault == "child":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with options.log.open("a") as log:
            print(child.pid, file=log)
    if options.fault == "slow-start":
        time.sleep(1.5)
    era = options.era
    for line in sys.stdin:
        message = json.loads(line)
        if options.fault == "slow-start" and message["method"] == "server/discover":
            era = "modern"
        misbehave(options.fault, message["method"])
        if options.fault == "bad-output" and message["method"] == "tools/call":
            result = {"content": [], "structuredContent": {"status": 5}, "resultType": "complete"}
            reply: dict[str, Any] | None = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        else:
            reply = answer(message, era, tools)
        if reply is not None:
            print(json.dumps(reply), flush=True)
        if options.fault == "relists" and message["method"] == "tools/call":
            tools = TOOLS[:1]
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), flush=True)


if __name__ == "__main__":
    main()
