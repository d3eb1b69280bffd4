"""The only door to a tool: it checks, counts, records, and in replay answers from the recording."""

import asyncio
from typing import Any

import pytest

from salvo.engine.runtime.pool import gather
from salvo.engine.runtime.redact import Redactor
from salvo.errors import TapeMissError
from salvo.scenarios.run.tools.function import FunctionTool
from salvo.scenarios.run.tools.toolbox import ReplayedToolBox, ToolBox
from tests.support.clock import HeldClock

SECRET = "correct horse battery"


async def search(to: str) -> str:
    """Finds."""
    if to == "nowhere":
        raise LookupError("no such airport")
    await asyncio.sleep(0.02 if to == "JFK" else 0)
    return f"flights to {to}"


def box(secret: str = SECRET) -> ToolBox:
    return ToolBox([FunctionTool("search", search)], HeldClock(), Redactor([secret]))


async def test_a_call_has_its_result_or_what_the_agent_is_told_instead() -> None:
    tools = box()
    assert (await tools.call("search", {"to": "JFK"})).result == "flights to JFK"
    told = [
        (await tools.call("search", {"to": "nowhere"})).error,
        (await tools.call("search", {"too": "JFK"})).error,
        (await tools.call("search", {}, problem="The arguments are not JSON: cut.")).error,
        (await tools.call("fly", {})).error,
    ]
    misfit = "The arguments do not fit: Additional properties are not allowed ('too' was unexpected); 'to' is a required property."
    assert told == [
        "LookupError: no such airport",
        misfit,
        "The arguments are not JSON: cut.",
        "There is no tool called 'fly'. There are: search.",
    ]
    assert [call.name for call in tools.calls] == ["search", "search", "search", "search", "fly"]


async def test_calls_stand_in_the_order_they_were_asked_for_whichever_ends_first() -> None:
    tools = box()
    await gather(tools.call("search", {"to": to}) for to in ("JFK", "LGA"))
    assert [call.arguments["to"] for call in tools.calls] == ["JFK", "LGA"]
    assert [record.result for record in tools.records] == ["flights to JFK", "flights to LGA"]


async def replayed(recorded: ToolBox, *calls: dict[str, Any]) -> list[Any]:
    replay = ReplayedToolBox(recorded.definitions, recorded.records, HeldClock(), Redactor([SECRET]))
    return [(call.result, call.error) for call in [await replay.call("search", arguments) for arguments in calls]]


async def test_replay_answers_by_name_arguments_and_occurrence_without_running_anything() -> None:
    tools = box()
    for to in ("JFK", "nowhere", SECRET):
        await tools.call("search", {"to": to})
    assert await replayed(tools, {"to": SECRET}, {"to": "nowhere"}, {"to": "JFK"}) == [
        (f"flights to {SECRET}", None),
        (None, "LookupError: no such airport"),
        ("flights to JFK", None),
    ]
    assert tools.records[2].arguments == {"to": "[redacted]"}


async def test_a_call_that_was_not_recorded_is_a_divergence() -> None:
    tools = box()
    await tools.call("search", {"to": "JFK"})
    with pytest.raises(TapeMissError, match="other arguments, or more often") as error:
        await replayed(tools, {"to": "LGA"})
    assert error.value.hint == "Recorded and not called yet: search({'to': 'JFK'})."
    with pytest.raises(TapeMissError):
        await replayed(tools, {"to": "JFK"}, {"to": "JFK"})


def test_a_replayed_box_shows_the_recorded_definitions() -> None:
    tools = box()
    assert ReplayedToolBox(tools.definitions, [], HeldClock(), Redactor()).definitions == tools.definitions
