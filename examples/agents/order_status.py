"""An agent that knows nothing of Salvo: a question on standard input, an answer on standard output."""

import json
import os
import sys
import urllib.request

MODEL = os.environ.get("SALVO_MODEL", "gpt-5.4-mini")
PARAMETERS = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TOOLS = [{"type": "function", "function": {"name": "find_order", "parameters": PARAMETERS}}]


def find_order(number: int) -> dict[str, object]:
    return {"number": number, "status": "on its way", "place": "Lyon"}


def ask(messages: list[dict[str, object]]) -> dict[str, object]:
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": MODEL, "messages": messages, "tools": TOOLS}).encode(),
        {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["choices"][0]["message"]


messages: list[dict[str, object]] = [{"role": "user", "content": sys.stdin.read()}]
while (said := ask(messages)).get("tool_calls"):
    messages.append(said)
    for call in said["tool_calls"]:
        found = find_order(**json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(found)})
print(said["content"])
