"""Credentials in the query of a path."""

import pytest

from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import WireReply, WireRequest
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.redaction.query import redact_query
from salvo.engine.wire.replay import ReplayWire
from salvo.engine.wire.tape import Exchange, JsonContent, Tape, TapedReply, TapedRequest
from salvo.errors import TapeMissError
from tests.support.wires import REDACTOR, ScriptedWire

SECRET = "planted-secret-1234"


@pytest.mark.parametrize(
    "path, expected",
    [
        ("/models", "/models"),
        ("/models?", "/models?"),
        ("/models?limit=5&after=m", "/models?limit=5&after=m"),
        ("/models?key=1", "/models?key=[redacted]"),
        ("/m?a=1&api_key=x&b=2", "/m?a=1&api_key=[redacted]&b=2"),
        ("/m?apiKey=x", "/m?apiKey=[redacted]"),
        ("/m?%6bey=x", "/m?%6bey=[redacted]"),
        ("/m?X-Amz-Credential=a%2Fb&X-Amz-Signature=f", "/m?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]"),
        ("/m?sig=x&sv=2024", "/m?sig=[redacted]&sv=2024"),
        ("/m?access_token=a=b", "/m?access_token=[redacted]"),
        ("/m?max_tokens=5", "/m?max_tokens=5"),
        ("/m?monkey=5", "/m?monkey=5"),
        (f"/m?note={SECRET}", "/m?note=[redacted]"),
        (f"/m?note={SECRET.replace('-', '%2D')}", "/m?note=[redacted]"),
        (f"/m?{SECRET}", "/m?[redacted]"),
        ("/m?auth=", "/m?auth="),
    ],
)
def test_values_of_secret_names_and_known_secrets_are_hidden(path: str, expected: str) -> None:
    redactor = Redactor([SECRET])
    assert redact_query(path, redactor) == expected
    assert redact_query(expected, redactor) == expected


async def test_a_miss_and_an_ambiguity_do_not_show_the_credential() -> None:
    recording = RecordingWire(ScriptedWire(lambda _: WireReply(200, b"{}")), REDACTOR)
    await recording.send(WireRequest("openai", f"/models?key={SECRET}", method="GET"))
    with pytest.raises(TapeMissError) as miss:
        await ReplayWire(recording.tape, REDACTOR).send(WireRequest("openai", f"/others?key={SECRET}2", method="GET"))
    assert SECRET not in str(miss.value)


async def test_a_tape_of_an_earlier_version_with_a_credential_in_it_is_replayed_and_not_shown() -> None:
    path = f"/models?key={SECRET}"
    reply = TapedReply(200, {}, JsonContent({"old": True}), 0.0)
    key = "7c34fcc11cd1a8839c871ff5532144eb677c6e690d802ac004193536b68bc12c"
    tape = Tape(exchanges=[Exchange("", key, 1, TapedRequest("GET", "openai", path, {}, JsonContent(None)), reply)])
    replayed = await ReplayWire(tape, REDACTOR).send(WireRequest("openai", path, method="GET"))
    assert replayed.json() == {"old": True}
    with pytest.raises(TapeMissError) as miss:
        await ReplayWire(tape, REDACTOR).send(WireRequest("openai", "/other", method="GET"))
    assert SECRET not in str(miss.value)
