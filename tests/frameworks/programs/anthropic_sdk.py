"""The official SDK of Anthropic, streaming, with thinking that is sent back."""

import sys

from anthropic import Anthropic

client = Anthropic()
tools = [{"name": "find", "input_schema": {"type": "object", "properties": {"name": {"type": "string"}}}}]
messages = [{"role": "user", "content": sys.stdin.read()}]
while True:
    with client.messages.stream(model="claude-opus-4-8", max_tokens=4000, messages=messages, tools=tools) as stream:
        message = stream.get_final_message()
    uses = [block for block in message.content if block.type == "tool_use"]
    if not uses:
        break
    results = [
        {"type": "tool_result", "tool_use_id": use.id, "content": f"{use.input['name']} sits in 2A"} for use in uses
    ]
    messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
print(message.content[-1].text)
