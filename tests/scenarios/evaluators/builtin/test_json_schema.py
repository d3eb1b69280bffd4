"""json_schema: a value of the run against a schema that may be hostile."""

from typing import Any

import pytest

from salvo.engine.jsonio import json_schema
from salvo.scenarios.result import Cause
from tests.support.evaluation import evaluate, findings, run

BOOKING = {
    "type": "object",
    "properties": {"id": {"type": "string", "pattern": "^[A-Z]{6}$"}, "price": {"type": "number", "minimum": 0}},
    "required": ["id", "price"],
}


@pytest.mark.parametrize(
    "output, messages",
    [
        ({"id": "QWERTZ", "price": 12}, []),
        ({"id": "qwertz", "price": -1}, ["id", "price"]),
        ({"id": "QWERTZ"}, ["price"]),
        ("QWERTZ", ["object"]),
        (None, ["expected a value at final_output, got null"]),
    ],
)
async def test_every_violation_is_named(output: Any, messages: list[str]) -> None:
    verdict = await evaluate({"type": "json_schema", "schema": BOOKING}, run(output))
    assert verdict.passed is (not messages)
    assert all(message in verdict.message for message in messages)


async def test_a_path_names_the_value() -> None:
    wanted = {"type": "json_schema", "path": "final_output.items[0]", "schema": {"type": "integer"}}
    assert (await evaluate(wanted, run({"items": [1]}))).passed is True
    assert (await evaluate(wanted, run({"items": ["1"]}))).passed is False


async def test_a_validation_that_does_not_end_is_not_a_failure_of_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_schema, "TIMEOUT", 1.0)
    hostile = {"type": "string", "pattern": "^(a+)+$"}
    verdict = await evaluate({"type": "json_schema", "schema": hostile}, run("a" * 40 + "!"))
    assert (verdict.passed, verdict.cause) == (None, Cause.EVALUATOR)
    assert "did not finish" in verdict.message


@pytest.mark.parametrize(
    "fields, path",
    [({"schema": {"type": "strin"}}, "schema"), ({"schema": {}, "path": "final_output["}, "path"), ({}, "schema")],
)
def test_a_schema_or_path_that_is_none_is_found_before_a_run(fields: dict[str, Any], path: str) -> None:
    assert [found for found, _ in findings({"type": "json_schema", **fields})] == [("assertions", 0, path)]
