"""`salvo run` where the provider is at fault: the run is an error that says so, and never the agent's failure."""

import json
from typing import Any

import pytest

from tests.support.project import UserProject
from tests.support.provider import Fault, LoopbackProvider, Say, Scripted

GREETING = """
scenario: greeting
adapter: {adapter}
model: {model}
user_message: Say hello.
assertions:
  - {{type: latency_limit, max_seconds: 1000}}
"""
MODELS = {"openai": "gpt-5.4-mini", "anthropic": "claude-sonnet-4-6"}


def greet(project: UserProject, script: Scripted, *arguments: str, adapter: str = "openai") -> dict[str, Any]:
    """The stored result of a run of a scenario that any answer passes."""
    (project.folder / "scenarios/book_flight.yaml").unlink(missing_ok=True)
    project.write("scenarios/greeting.yaml", GREETING.format(adapter=adapter, model=MODELS[adapter]))
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        project.salvo("run", *arguments)
    result: dict[str, Any] = json.loads(project.runs()[-1].read_text())
    return result


@pytest.mark.parametrize("adapter", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "body",
    [
        {"hello": "world"},
        {"choices": [{"message": {}}]},
        {"type": "message", "content": [{}]},
        {"output": [], "status": "completed"},
        {"object": "list", "data": []},
        [],
        "hello",
    ],
)
def test_a_success_that_is_no_completion_is_a_provider_error_and_passes_nothing(
    project: UserProject, adapter: str, body: Any
) -> None:
    result = greet(project, Fault.body(json.dumps(body).encode()), adapter=adapter)
    assert (result["outcome"], result["cause"], result["passed"]) == ("error", "provider", False)
    assert "did not answer with a completion" in result["error"]


def test_the_reply_of_another_provider_is_a_provider_error(project: UserProject) -> None:
    openai = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
    anthropic = {"type": "message", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}
    for adapter, body in (("anthropic", openai), ("openai", anthropic)):
        result = greet(project, Fault.body(json.dumps(body).encode()), adapter=adapter)
        assert (result["outcome"], result["cause"]) == ("error", "provider")


def test_usage_that_cannot_be_true_leaves_tokens_and_cost_unknown(project: UserProject) -> None:
    result = greet(project, Say("hi", usage={"prompt_tokens": 10**30, "completion_tokens": 1}))
    assert (result["outcome"], result["metrics"]["tokens"], result["metrics"]["cost"]) == ("passed", None, None)
