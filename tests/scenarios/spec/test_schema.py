"""The JSON Schema that editors get says what the loader says."""

from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, ValidationError

from salvo.scenarios.evaluators.base import EvaluatorType
from salvo.scenarios.result import EvalResult
from salvo.scenarios.spec.json_schema import scenario_schema
from salvo.scenarios.spec.schema import Assertion, Scenario
from salvo.scenarios.spec.tool_schema import ToolResponse, YamlTool


class Expected(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool: str


class SequenceFields(BaseModel):
    model_config = ConfigDict(extra="forbid")

    expected: list[str | Expected]
    mode: Literal["exact", "subset"] = "exact"


def _evaluator(name: str, fields: type[BaseModel] | None = None) -> EvaluatorType:
    return EvaluatorType(name, lambda *_: EvalResult.judged(True), fields)


SCHEMA = scenario_schema({"sequence": _evaluator("sequence", SequenceFields), "free": _evaluator("free")})


def scenario(**changes: Any) -> dict[str, Any]:
    return {
        "scenario": "book flight",
        "adapter": "openai",
        "user_message": "Book it.",
        "assertions": [{"type": "free", "anything": 1}],
        **changes,
    }


@pytest.mark.parametrize(
    "document",
    [
        scenario(),
        scenario(assertions=[{"type": "sequence", "expected": ["a", {"tool": "b"}], "weight": 2, "required": True}]),
        scenario(tools=["search", {"name": "book", "responses": [{"when": {"a": 1}, "error": "full"}]}]),
        scenario(threshold=0.5, runs=10, temperature=None, adapter_options={"base_url": "${URL}"}),
    ],
)
def test_the_schema_takes_what_the_loader_takes(document: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    Scenario.model_validate(document, strict=True)
    assert list(Draft202012Validator(SCHEMA).iter_errors(document)) == []


@pytest.mark.parametrize(
    "document",
    [
        scenario(modle="gpt-4o"),
        scenario(assertions=[]),
        scenario(assertions=[{"type": "unknown"}]),
        scenario(assertions=[{"type": "sequence"}]),
        scenario(assertions=[{"type": "sequence", "expected": [], "exepcted": []}]),
        scenario(assertions=[{"type": "sequence", "expected": [], "mode": "sorted"}]),
        scenario(assertions=[{"type": "free", "weight": -1}]),
        scenario(tools=[{"name": "no spaces"}]),
        scenario(threshold=2),
        scenario(runs="10"),
    ],
)
def test_the_schema_refuses_what_the_loader_and_the_evaluators_refuse(document: dict[str, Any]) -> None:
    assert list(Draft202012Validator(SCHEMA).iter_errors(document)) != []


def test_the_schema_describes_every_field() -> None:
    undescribed = [name for name, part in SCHEMA["properties"].items() if "description" not in part]
    assert undescribed == []
    assert SCHEMA["title"] == "Salvo scenario"
    assert "Assertion" not in SCHEMA["$defs"]


@pytest.mark.parametrize(
    "name, path, label",
    [
        ("confirmed", "final_output.confirmation_id", "confirmed"),
        (None, "final_output.confirmation_id", "confirmation_id"),
        (None, "metrics", "metrics"),
        (None, "turns[1].tool_calls[?name=='a.b'].arguments", "arguments"),
        (None, "trace.tool_calls[?name=='a.b']", "tool_calls[?name=='a.b']"),
        (None, "trace[?type=='model'] | [-1].data.stop", "stop"),
        (None, "contains(final_output.said, 'A-2')", "contains(final_output.said, 'A-2')"),
        (None, "length(metrics.calls)", "length(metrics.calls)"),
        (None, "metrics.cost < metrics.limit", "metrics.cost < metrics.limit"),
        (None, 'final_output."a.b"', 'final_output."a.b"'),
        (None, None, "jmespath"),
    ],
)
def test_an_assertions_label_is_its_name_else_the_last_segment_of_a_plain_path_else_its_type(
    name: str | None, path: str | None, label: str
) -> None:
    fields = {"path": path} if path else {}
    assert Assertion.model_validate({"type": "jmespath", "name": name, **fields}).label == label


@pytest.mark.parametrize(
    "model, fields",
    [(ToolResponse, {"result": 1, "error": "x"}), (YamlTool, {"name": "x", "response": 1, "responses": [{}]})],
)
def test_a_tool_answers_in_one_way_only(model: type[BaseModel], fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(fields)
