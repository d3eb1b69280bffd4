"""The engine's wires, connected to a loopback provider."""

import json
from collections.abc import Callable
from typing import Any

from salvo.engine.chat import catalog
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import HttpOptions, WireReply, WireRequest
from salvo.engine.wire.http import HttpWire
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.replay import ReplayWire
from salvo.engine.wire.tape import Tape
from tests.support.provider import LoopbackProvider

OPENAI_KEY = "sk-proj-loopback-0123456789"
ANTHROPIC_KEY = "sk-ant-loopback-0123456789"
REDACTOR = Redactor([OPENAI_KEY, ANTHROPIC_KEY])


def environment(provider: LoopbackProvider) -> dict[str, str]:
    """What a user would have set to reach this provider."""
    return {
        "OPENAI_API_KEY": OPENAI_KEY,
        "ANTHROPIC_API_KEY": ANTHROPIC_KEY,
        "OPENAI_BASE_URL": provider.openai_url,
        "ANTHROPIC_BASE_URL": provider.anthropic_url,
    }


def http_wire(provider: LoopbackProvider, **options: Any) -> HttpWire:
    return HttpWire(catalog.endpoints(environment(provider)), REDACTOR, options=HttpOptions(**options))


def openai_request(text: str = "hello", lane: str = "") -> WireRequest:
    body = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": text}]}
    return WireRequest("openai", "/chat/completions", body, lane=lane)


class ScriptedWire:
    """A wire that answers from a function: for what no socket can be made to do."""

    def __init__(self, answer: Callable[[WireRequest], WireReply]) -> None:
        self._answer = answer
        self.sent: list[WireRequest] = []

    async def send(self, request: WireRequest) -> WireReply:
        self.sent.append(request)
        return self._answer(request)


def answering(body: Any, status: int = 200) -> ScriptedWire:
    """Return a wire that answers every request with this body."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ScriptedWire(lambda _: WireReply(status, content))


def replay_wire(recording: RecordingWire, redactor: Redactor = REDACTOR) -> ReplayWire:
    """Return a wire that replays the recording as it would be read from its file."""
    content = json_codec.dumps(recording.tape)
    document = json_codec.loads(content, max_depth=json_codec.MAX_DEPTH_STORED)
    return ReplayWire(Tape.from_document(document), redactor)
