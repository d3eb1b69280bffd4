"""The official SDK of OpenAI, streaming, with both of its APIs."""

import json
import sys

from openai import OpenAI

client = OpenAI()
schema = {"type": "object", "properties": {"name": {"type": "string"}}}


def find(arguments: str) -> str:
    return f"{json.loads(arguments)['name']} sits in 2A"


def chat(prompt: str) -> str:
    tools = [{"type": "function", "function": {"name": "find", "parameters": schema}}]
    messages = [{"role": "user", "content": prompt}]
    while True:
        with client.chat.completions.stream(model="gpt-5.4-mini", messages=messages, tools=tools) as stream:
            message = stream.get_final_completion().choices[0].message
        if not message.tool_calls:
            return message.content
        calls = [
            {"id": call.id, "type": "function", "function": {"name": "find", "arguments": call.function.arguments}}
            for call in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": find(call.function.arguments)}
            for call in message.tool_calls
        ]


def responses(prompt: str) -> str:
    tools = [{"type": "function", "name": "find", "parameters": schema, "strict": False}]
    items = [{"role": "user", "content": prompt}]
    while True:
        with client.responses.stream(model="gpt-5.4-mini", input=items, tools=tools) as stream:
            response = stream.get_final_response()
        items += [item.to_dict() for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        items += [
            {"type": "function_call_output", "call_id": call.call_id, "output": find(call.arguments)} for call in calls
        ]


print({"chat": chat, "responses": responses}[sys.argv[1]](sys.stdin.read()))
