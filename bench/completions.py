"""800 completions: 200 four-call tool loops, 16 at a time, on loopback without latency.

Each client runs in a child process of its own, after its imports and one warm-up conversation, so that what is
compared is the cost of calling and not of starting.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bench import table
from bench.provider import four_call_provider

LOOPS, CALLS, AT_ONCE, ROUNDS = 200, 4, 16, 5
OPENAI_MODEL, ANTHROPIC_MODEL = "gpt-5.4-mini", "claude-sonnet-4-6"
SYSTEM = "You are a travel assistant."
QUESTION = "Book the cheapest flight from SFO to JFK."
PARAMETERS = {"type": "object", "properties": {"query": {"type": "string"}}}
OPENAI_TOOL: Any = {
    "type": "function",
    "function": {"name": "search", "description": "Finds flights.", "parameters": PARAMETERS},
}

Conversation = Callable[[], Awaitable[int]]


def report() -> None:
    table.heading(
        f"{LOOPS * CALLS} completions ({LOOPS} four-call tool loops, {AT_ONCE} at a time), median of {ROUNDS}"
    )
    measured: dict[str, list[dict[str, float]]] = {name: [] for name in CLIENTS}
    with four_call_provider() as url:
        for _ in range(ROUNDS):
            for name in CLIENTS:
                command = [sys.executable, "-m", "bench.completions", name, url]
                printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                measured[name].append(json.loads(printed))
    cpu = {name: [round_["cpu"] for round_ in rounds] for name, rounds in measured.items()}
    for name, rounds in measured.items():
        table.line(name, {unit: statistics.median(r[unit] for r in rounds) for unit in ("cpu", "wall")}, "s")
    table.promise(
        "CPU of salvo, openai, to the OpenAI SDK's", table.ratio(cpu["salvo openai"], cpu["openai SDK"]), 0.15
    )
    table.promise("CPU of salvo, openai, to bare aiohttp's", table.ratio(cpu["salvo openai"], cpu["bare aiohttp"]), 1.8)
    against = table.ratio(cpu["salvo anthropic"], cpu["anthropic SDK"])
    print(f"  CPU of salvo, anthropic, to the Anthropic SDK's: {against:.2f} ×")


async def _measure(conversation: Conversation) -> dict[str, float]:
    assert await conversation() == CALLS
    room = asyncio.Semaphore(AT_ONCE)

    async def one() -> int:
        async with room:
            return await conversation()

    wall, cpu = time.perf_counter(), time.process_time()
    made = await asyncio.gather(*(one() for _ in range(LOOPS)))
    assert sum(made) == LOOPS * CALLS
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


async def _salvo(name: str, url: str) -> dict[str, float]:
    from salvo.engine.chat import catalog
    from salvo.engine.chat.base import ChatRequest, Message, ToolAnswer, ToolDefinition, ToolMessage, UserMessage
    from salvo.engine.chat.model import WiredModel
    from salvo.engine.runtime.redact import Redactor
    from salvo.engine.wire.http import HttpWire
    from salvo.engine.wire.retry import RetryingWire

    environ = {
        "OPENAI_BASE_URL": f"{url}/v1",
        "ANTHROPIC_BASE_URL": url,
        "OPENAI_API_KEY": "bench",
        "ANTHROPIC_API_KEY": "bench",
    }
    tools = (ToolDefinition("search", "Finds flights.", PARAMETERS),)
    async with HttpWire(catalog.endpoints(environ), Redactor()) as http:
        model = WiredModel(name, RetryingWire(http))

        async def conversation() -> int:
            messages: tuple[Message, ...] = (UserMessage(QUESTION),)
            calls = 0
            while True:
                reply = await model.complete(ChatRequest(messages, SYSTEM, tools, max_tokens=1024, lane="agent"))
                calls += 1
                if not reply.message.tool_uses:
                    return calls
                answers = tuple(ToolAnswer(use.id, "found three flights") for use in reply.message.tool_uses)
                messages += (reply.message, ToolMessage(answers))

        return await _measure(conversation)


async def _salvo_openai(url: str) -> dict[str, float]:
    return await _salvo(f"openai/{OPENAI_MODEL}", url)


async def _salvo_anthropic(url: str) -> dict[str, float]:
    return await _salvo(f"anthropic/{ANTHROPIC_MODEL}", url)


def _answer(call: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": call, "content": "found three flights"}


async def _openai_sdk(url: str) -> dict[str, float]:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="bench") as client:

        async def conversation() -> int:
            messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
            calls = 0
            while True:
                reply = await client.chat.completions.create(
                    model=OPENAI_MODEL, messages=messages, tools=[OPENAI_TOOL], max_completion_tokens=1024
                )
                calls += 1
                message = reply.choices[0].message
                if not message.tool_calls:
                    return calls
                messages.append(message)
                messages += [_answer(call.id) for call in message.tool_calls]

        return await _measure(conversation)


async def _anthropic_sdk(url: str) -> dict[str, float]:
    from anthropic import AsyncAnthropic

    tool: Any = {"name": "search", "description": "Finds flights.", "input_schema": PARAMETERS}
    async with AsyncAnthropic(base_url=url, api_key="bench") as client:

        async def conversation() -> int:
            messages: list[Any] = [{"role": "user", "content": QUESTION}]
            calls = 0
            while True:
                reply = await client.messages.create(
                    model=ANTHROPIC_MODEL, system=SYSTEM, messages=messages, tools=[tool], max_tokens=1024
                )
                calls += 1
                uses = [block for block in reply.content if block.type == "tool_use"]
                if not uses:
                    return calls
                messages.append({"role": "assistant", "content": reply.content})
                results = [
                    {"type": "tool_result", "tool_use_id": use.id, "content": "found three flights"} for use in uses
                ]
                messages.append({"role": "user", "content": results})

        return await _measure(conversation)


async def _bare_aiohttp(url: str) -> dict[str, float]:
    import aiohttp

    headers = {"authorization": "Bearer bench"}
    async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0)) as session:

        async def conversation() -> int:
            messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
            calls = 0
            while True:
                body = {
                    "model": OPENAI_MODEL,
                    "messages": messages,
                    "tools": [OPENAI_TOOL],
                    "max_completion_tokens": 1024,
                }
                async with session.post(f"{url}/v1/chat/completions", json=body) as response:
                    reply = await response.json()
                calls += 1
                message = reply["choices"][0]["message"]
                if not message.get("tool_calls"):
                    return calls
                messages.append(message)
                messages += [_answer(call["id"]) for call in message["tool_calls"]]

        return await _measure(conversation)


CLIENTS = {
    "salvo openai": _salvo_openai,
    "salvo anthropic": _salvo_anthropic,
    "openai SDK": _openai_sdk,
    "anthropic SDK": _anthropic_sdk,
    "bare aiohttp": _bare_aiohttp,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("url")
    arguments = parser.parse_args()
    print(json.dumps(asyncio.run(CLIENTS[arguments.client](arguments.url))))


if __name__ == "__main__":
    main()
