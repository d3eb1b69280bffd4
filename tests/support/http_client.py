"""A plain HTTP client: it sends what no SDK would send, and shows what an SDK hides."""

import io
import json
from typing import Any, NamedTuple

import aiohttp

from tests.support.provider import LoopbackProvider

ASKING = [{"role": "user", "content": "Where is my parcel?"}]
OPENAI_BODY: dict[str, Any] = {"model": "gpt-4.1", "messages": ASKING}
ANTHROPIC_BODY: dict[str, Any] = {"model": "claude-sonnet-4-6", "max_tokens": 1024, "messages": ASKING}
OPENAI_HEADERS = {"authorization": "Bearer sk-test-0123456789"}
ANTHROPIC_HEADERS = {"x-api-key": "sk-ant-test-0123456789", "anthropic-version": "2023-06-01"}


class HttpResponse(NamedTuple):
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    @property
    def error(self) -> Any:
        return self.body["error"]


async def post(url: str, body: Any, headers: dict[str, str], **options: Any) -> HttpResponse:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/json", **headers}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=io.BytesIO(data), headers=headers, allow_redirects=False, **options) as response,
    ):
        received = {name.lower(): value for name, value in response.headers.items()}
        return HttpResponse(response.status, received, await response.read())


async def ask_openai(provider: LoopbackProvider, **request: Any) -> HttpResponse:
    return await post(f"{provider.openai_url}/chat/completions", {**OPENAI_BODY, **request}, OPENAI_HEADERS)


async def ask_anthropic(provider: LoopbackProvider, version: str = "2023-06-01", **request: Any) -> HttpResponse:
    headers = {**ANTHROPIC_HEADERS, "anthropic-version": version}
    return await post(f"{provider.anthropic_url}/v1/messages", {**ANTHROPIC_BODY, **request}, headers)
