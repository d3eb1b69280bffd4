"""A tool without code: which of its answers comes when."""

from typing import Any

import pytest
from pydantic import ValidationError

from salvo.scenarios.run.tools.toolbox import ToolFailure
from salvo.scenarios.run.tools.yaml_tool import ScriptedTool, matches
from salvo.scenarios.spec.tool_schema import YamlTool
from tests.support.clock import HeldClock


async def answers(spec: dict[str, Any], *calls: dict[str, Any]) -> list[Any]:
    tool = ScriptedTool(YamlTool.model_validate({"name": "refund", **spec}), HeldClock())
    told: list[Any] = []
    for arguments in calls:
        try:
            told.append(await tool.answer(arguments))
        except ToolFailure as failure:
            told.append(f"error: {failure}")
    return told


async def test_one_response_answers_every_call() -> None:
    assert await answers({"response": {"ok": True}}, {}, {"id": 1}) == [{"ok": True}, {"ok": True}]


async def test_a_sequence_is_answered_in_order_and_the_last_one_repeats() -> None:
    spec = {"responses": [{"error": "503, try again"}, {"result": 1}, {"result": 2}]}
    assert await answers(spec, {}, {}, {}, {}) == ["error: 503, try again", 1, 2, 2]


async def test_answers_are_matched_by_arguments_nested_ones_too_and_the_rest_is_for_all_others() -> None:
    spec = {
        "responses": [
            {"when": {"order": {"id": "A-1"}}, "result": "first of A-1"},
            {"when": {"order": {"id": "A-1"}}, "result": "again A-1"},
            {"result": "someone else"},
        ]
    }
    a1, b2 = {"order": {"id": "A-1", "qty": 3}, "note": "x"}, {"order": {"id": "B-2"}}
    assert await answers(spec, b2, a1, b2, a1) == ["someone else", "first of A-1", "someone else", "again A-1"]


async def test_arguments_that_no_answer_fits_are_an_error_of_the_tool() -> None:
    spec = {"responses": [{"when": {"id": 1}, "result": "one"}]}
    assert await answers(spec, {"id": 2}) == ["error: There is no answer for these arguments."]


async def test_a_delay_is_waited_on_the_clock() -> None:
    clock = HeldClock()
    spec = {"name": "slow", "responses": [{"result": 1, "delay": 2.5}]}
    await ScriptedTool(YamlTool.model_validate(spec), clock).answer({})
    assert clock.slept == [2.5]


@pytest.mark.parametrize(
    "wanted, given, fit",
    [
        ({}, {"a": 1}, True),
        ({"a": 1}, {}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": [1, 2]}, {"a": [1, 2]}, True),
        ({"a": {"b": 1}}, {"a": 1}, False),
    ],
)
def test_everything_wanted_must_be_there(wanted: Any, given: Any, fit: bool) -> None:
    assert matches(wanted, given) is fit


@pytest.mark.parametrize("spec", [{"name": "no spaces"}, {"name": "x", "responses": []}, {"name": "x", "respones": 1}])
def test_a_tool_with_a_typo_is_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        YamlTool.model_validate(spec)
