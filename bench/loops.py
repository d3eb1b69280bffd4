"""What someone would write who only wants the calls made: nothing is stored, nothing evaluated, nothing retried."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

MODEL = "gpt-5.4-mini"
TOOLS: Any = [
    {"type": "function", "function": {"name": name, "description": "x", "parameters": {"type": "object"}}}
    for name in ("find_order", "check_stock", "issue_refund")
]


def _beginning() -> list[Any]:
    return [
        {"role": "system", "content": "You are a support agent."},
        {"role": "user", "content": "Refund order A-1001, please."},
    ]


def _answer(call: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": call, "content": '{"ok": true}'}


async def openai_sdk(url: str, all_of: Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]) -> None:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="bench") as client:

        async def conversation() -> None:
            messages = _beginning()
            while True:
                reply = await client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
                message = reply.choices[0].message
                if not message.tool_calls:
                    json.loads(message.content or "")
                    return
                messages.append(message)
                messages += [_answer(call.id) for call in message.tool_calls]

        await all_of(conversation)


async def aiohttp_alone(url: str, all_of: Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]) -> None:
    import aiohttp

    headers = {"authorization": "Bearer bench"}
    async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0)) as session:

        async def conversation() -> None:
            messages = _beginning()
            while True:
                body = {"model": MODEL, "messages": messages, "tools": TOOLS}
                async with session.post(f"{url}/v1/chat/completions", json=body) as response:
                    message = (await response.json())["choices"][0]["message"]
                if not message.get("tool_calls"):
                    json.loads(message["content"])
                    return
                messages.append(message)
                messages += [_answer(call["id"]) for call in message["tool_calls"]]

        await all_of(conversation)


CLIENTS = {"openai": openai_sdk, "aiohttp": aiohttp_alone}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("url")
    parser.add_argument("runs", type=int)
    parser.add_argument("at_once", type=int)
    arguments = parser.parse_args()

    async def all_of(conversation: Callable[[], Awaitable[None]]) -> None:
        room = asyncio.Semaphore(arguments.at_once)

        async def one() -> None:
            async with room:
                await conversation()

        await asyncio.gather(*(one() for _ in range(arguments.runs)))

    asyncio.run(CLIENTS[arguments.client](arguments.url, all_of))


if __name__ == "__main__":
    main()
