"""The public Python API, as a custom adapter and a custom evaluator use it."""

import json
import subprocess
import sys
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

import salvo
from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, Say

ASKS_A_MODEL = """
from salvo import AdapterResponse, BaseAdapter, ChatRequest, RunMetrics, UserMessage


class Agent(BaseAdapter):
    async def run(self, request):
        model = self.context.chat_model("openai/gpt-5.4-mini")
        reply = await model.complete(ChatRequest(messages=(UserMessage(request.user_message),), lane="agent"))
        return AdapterResponse(final_output=reply.text, metrics=RunMetrics(latency=7.5, tokens=120, tool_count=4))


class Silent(BaseAdapter):
    async def run(self, request):
        return AdapterResponse(final_output="done")


class Reporting(BaseAdapter):
    async def run(self, request):
        return AdapterResponse(final_output="done", metrics=RunMetrics(latency=7.5, tokens=120, cost=0.25))


class Wrong(BaseAdapter):
    async def run(self, request):
        return AdapterResponse(final_output="done", tool_calls="none")
"""
CHECKS = """
from salvo import EvalResult


def check(scenario, assertion, result):
    dumped = result.model_dump()
    passed = dumped["metrics"]["tool_count"] == 0 and dumped["final_output"] == result.final_output
    return EvalResult(passed=passed, score=1.0 if passed else 0.0, details={"dumped": sorted(dumped)})


def wrong(scenario, assertion, result):
    return EvalResult(passed="yes")
"""
SCENARIO = """
scenario: mine
adapter: mine:{adapter}
user_message: Hello
assertions:
  - {{type: custom, function: checks.{check}}}
  - {{type: latency_limit, max_seconds: 5}}
"""


def run(project: UserProject, adapter: str, check: str = "check") -> dict[str, Any]:
    """Run a scenario once and return the stored result."""
    project.write("mine.py", ASKS_A_MODEL)
    project.write("checks.py", CHECKS)
    project.write("scenarios/mine.yaml", SCENARIO.format(adapter=adapter, check=check))
    with LoopbackProvider(Say("Good morning.")) as provider:
        project.reach(provider)
        project.salvo("run", "scenarios/mine.yaml", "-n", "1")
    [stored] = project.runs()
    result: dict[str, Any] = json.loads(stored.read_text())
    return result


def test_every_public_name_is_there_and_a_wrong_one_is_an_attribute_error() -> None:
    for name in salvo.__all__:
        assert getattr(salvo, name)
    assert set(dir(salvo)) == set(salvo.__all__)
    with pytest.raises(AttributeError, match="no attribute 'BaseAdaptor'"):
        _ = salvo.BaseAdaptor


def test_importing_salvo_is_cheap() -> None:
    code = "import sys, salvo; print(sorted({'pydantic', 'asyncio', 'aiohttp', 'click'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


@pytest.mark.parametrize("name", ["AgentRunResult", "AdapterRequest", "AdapterResponse", "EvalResult", "RunMetrics"])
def test_these_are_pydantic_models(name: str) -> None:
    assert issubclass(getattr(salvo, name), BaseModel)


def test_an_adapter_asks_a_model_and_an_evaluator_dumps_the_result(project: UserProject) -> None:
    result = run(project, "Agent")
    assert (result["outcome"], result["final_output"]) == ("passed", "Good morning.")
    [custom, _] = result["eval_results"]
    assert "metrics" in custom["details"]["dumped"]


def test_reported_metrics_are_kept_beside_the_measured_ones(project: UserProject) -> None:
    result = run(project, "Agent")
    metrics, reported = result["metrics"], result["reported_metrics"]
    assert (reported["latency"], reported["tool_count"], reported["tokens"]["input"]) == (7.5, 4, 120)
    assert metrics["latency"] < 5, "the measured latency, which the assertion used"
    assert (metrics["tool_count"], metrics["model_calls"]) == (0, 1)
    assert metrics["tokens"]["input"] != 120


def test_tokens_and_cost_are_the_reported_ones_where_no_model_was_called_through_salvo(project: UserProject) -> None:
    metrics = run(project, "Reporting")["metrics"]
    assert (metrics["tokens"]["input"], metrics["cost"]) == (120, 0.25)


def test_nothing_is_reported_where_the_adapter_reports_nothing(project: UserProject) -> None:
    assert run(project, "Silent")["reported_metrics"] is None


def test_a_run_stored_without_reported_metrics_can_still_be_read(project: UserProject) -> None:
    stored = run(project, "Silent")
    del stored["reported_metrics"]
    project.runs()[0].write_text(json.dumps(stored))
    assert project.salvo("report", str(stored["run_id"])).exit_code == 0


def test_a_wrong_field_is_an_error_that_names_it(project: UserProject) -> None:
    result = run(project, "Wrong")
    assert result["cause"] == "adapter"
    assert "ValidationError: AdapterResponse.tool_calls: Input should be a valid list" in str(result["error"])
    project.runs()[0].unlink()
    result = run(project, "Silent", "wrong")
    assert result["cause"] == "evaluator"
    assert "ValidationError: EvalResult.passed: Input should be a valid boolean" in str(result["error"])


def test_metrics_accept_a_number_of_tokens() -> None:
    assert salvo.RunMetrics(tokens=120).tokens == salvo.Usage(input=120)
    assert salvo.RunMetrics(tokens=salvo.Usage(3, 4)).tokens == salvo.Usage(3, 4)


def test_a_response_takes_its_output_by_position_and_no_unknown_field() -> None:
    assert salvo.AdapterResponse("done").final_output == "done"
    with pytest.raises(ValidationError, match="final_ouput"):
        salvo.AdapterResponse(None, final_ouput="done")
