"""What counts when a request is matched to a recorded one."""

from typing import Any

import pytest

from salvo.engine.wire.base import WireRequest
from salvo.engine.wire.matching import VERSION, Matching
from salvo.engine.wire.record import RecordingWire
from salvo.errors import TapeMissError
from tests.support.wires import REDACTOR, answering, replay_wire


@pytest.mark.parametrize("path", ["/chat/completions", "/v1/messages", "/v1/messages/count_tokens?beta=true"])
def test_fields_that_do_not_reach_a_model_do_not_count_in_requests_to_one(path: str) -> None:
    body = {"model": "m", "metadata": {"a": 1}, "user": "u", "messages": [{"metadata": 1}]}
    assert Matching(VERSION).body(path, body) == {"model": "m", "messages": [{"metadata": 1}]}
    assert Matching(0).body(path, body) is body


async def test_the_same_names_mean_something_else_in_requests_to_other_addresses() -> None:
    """An adapter may send anything over the wire: there `user` may be the user's message."""
    recording = RecordingWire(answering({"ok": True}), REDACTOR, ignored=())
    await recording.send(WireRequest("https://agent.example", "/ask", {"user": "first"}))
    replay = replay_wire(recording)
    with pytest.raises(TapeMissError, match='user: recorded "first", now "second"'):
        await replay.send(WireRequest("https://agent.example", "/ask", {"user": "second"}))


@pytest.mark.parametrize(
    "rule, body, counted",
    [
        ("a", {"a": 1, "b": 2}, {"b": 2}),
        ("$.a.b", {"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}),
        ("a[*].id", {"a": [{"id": 1, "x": 1}, {"x": 2}, 3]}, {"a": [{"x": 1}, {"x": 2}, 3]}),
        ("a[1]", {"a": [1, 2, 3]}, {"a": [1, 3]}),
        ("[*].id", [{"id": 1}], [{}]),
        ("*.id", {"a": {"id": 1}, "b": {"c": 1}}, {"a": {}, "b": {"c": 1}}),
        ("a.0", {"a": [1]}, {"a": [1]}),
        ("a[0]", {"a": {"0": 1}}, {"a": {"0": 1}}),
        ("missing.path", {"a": 1}, {"a": 1}),
    ],
)
def test_a_path_of_a_scenario_leaves_out_what_it_leads_to(rule: str, body: Any, counted: Any) -> None:
    original = repr(body)
    assert Matching(VERSION, [rule]).body("/x", body) == counted
    assert repr(body) == original


def test_parameters_and_headers_are_left_out_by_their_names() -> None:
    matching = Matching(VERSION, ["query:trace", "header:Anthropic-Beta"])
    assert matching.path("/x?a=1&trace=7&b=2") == "/x?a=1&b=2"
    assert matching.path("/x?trace=7") == "/x"
    headers = {"Anthropic-Beta": "b", "OpenAI-Beta": "assistants=v2", "traceparent": "00-1"}
    assert matching.headers(headers) == {"openai-beta": "assistants=v2"}
