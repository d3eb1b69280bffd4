"""must_not_call: tools that the agent left alone, and those that it did not."""

import pytest

from salvo.scenarios.result import ToolCall
from tests.support.evaluation import evaluate, findings, run

CALLS = [ToolCall("find_order", {"id": "A-1"}), ToolCall("issue_refund", {"amount": 500}, error="refused")]
TOOLS = ["find_order", "issue_refund", "delete_account"]


@pytest.mark.parametrize(
    "tools, message",
    [
        (["delete_account"], ""),
        (["delete_account", "issue_refund"], "call 2 is issue_refund, which must not be called"),
        ([{"name": "issue_refund", "arguments": {"amount": 49.9}}], ""),
        (
            [{"name": "issue_refund", "arguments": {"amount": 500}}],
            'call 2 is issue_refund with {"amount":500}, which must not be called',
        ),
        (
            [{"name": "find_order", "arguments": {"id": {"regex": "^A-"}}}],
            'call 1 is find_order with {"id":"A-1"}, which must not be called',
        ),
    ],
)
async def test_a_call_fails_it_even_if_the_tool_refused(tools: list[object], message: str) -> None:
    verdict = await evaluate({"type": "must_not_call", "tools": tools}, run("done", *CALLS), tools=TOOLS)
    assert (verdict.passed, verdict.message) == (not message, message)
    assert verdict.actual == ["find_order", "issue_refund"]


def test_a_tool_that_does_not_exist_would_never_be_called() -> None:
    [(path, message)] = findings({"type": "must_not_call", "tools": ["delete_acount"]}, tools=TOOLS)
    assert path == ("assertions", 0, "tools", 0)
    assert message == 'The scenario has no tool "delete_acount"; did you mean "delete_account"?'
    [(path, _)] = findings({"type": "must_not_call", "tools": []}, tools=TOOLS)
    assert path == ("assertions", 0, "tools")
