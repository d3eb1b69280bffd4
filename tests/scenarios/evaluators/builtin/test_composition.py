"""all_of, any_of and not: three-valued logic over assertions of any type, and what is kept of the parts."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.scenarios.evaluators.base import EvaluatorType
from salvo.scenarios.evaluators.evaluate import evaluate_all
from salvo.scenarios.evaluators.registry import Registry, builtin_registry
from salvo.scenarios.result import Cause, EvalResult, ToolCall
from tests.support.evaluation import FakeServices, evaluate, findings, run, scenario, vote

RESULTS: Mapping[str, bool | None] = {"yes": True, "no": False, "unknown": None}


def known_results() -> Registry:
    registry = builtin_registry()
    for name, passed in RESULTS.items():
        verdict = EvalResult.unjudged("no key", Cause.JUDGE) if passed is None else EvalResult.judged(passed, "seen")
        registry.register(name, EvaluatorType(name, lambda *_, verdict=verdict: verdict.model_copy()))
    return registry


async def result_of(assertion: Mapping[str, Any]) -> EvalResult:
    return await evaluate(assertion, run("done"), registry=known_results())


@given(parts=st.lists(st.sampled_from(sorted(RESULTS)), min_size=1, max_size=5))
async def test_an_unjudged_part_matters_only_where_it_could_decide(parts: list[str]) -> None:
    """The referee: a composed result is known if every way of deciding the unknown parts gives the same."""
    values = [RESULTS[part] for part in parts]
    assertions = [{"type": part} for part in parts]
    for kind, combine in (("all_of", all), ("any_of", any)):
        possible = {combine(bool(other if value is None else value) for value in values) for other in (True, False)}
        expected = possible.pop() if len(possible) == 1 else None
        composed = await result_of({"type": kind, "assertions": assertions})
        assert composed.passed is expected
        assert composed.score == (None if expected is None else float(expected))
        opposite = await result_of({"type": "not", "assertion": {"type": kind, "assertions": assertions}})
        assert opposite.passed is (None if expected is None else not expected)


async def test_what_could_not_be_judged_keeps_its_cause() -> None:
    composed = await result_of({"type": "all_of", "assertions": [{"type": "yes"}, {"type": "unknown", "name": "tone"}]})
    assert (composed.passed, composed.cause, composed.error) == (None, Cause.JUDGE, "tone: no key")


async def test_a_failure_names_the_parts_that_failed() -> None:
    parts = [{"type": "yes"}, {"type": "no", "name": "polite"}]
    composed = await result_of({"type": "all_of", "assertions": parts})
    assert composed.message == "1 of 2 passed, and all of them must pass; polite: seen"
    assert [(part["name"], part["passed"]) for part in composed.details["parts"]] == [("yes", True), ("polite", False)]
    negated = await result_of({"type": "not", "assertion": {"type": "yes", "name": "leaks"}})
    assert negated.message == "leaks passed, but must fail"


async def test_real_assertions_are_composed_at_any_depth() -> None:
    refunds = {"type": "tool_sequence", "expected": ["issue_refund"], "mode": "subset"}
    says = {"type": "jmespath", "path": "final_output", "operator": "contains", "value": "refund"}
    judged = {"type": "llm_judge", "rubric": "It is polite."}
    composed = {
        "type": "any_of",
        "assertions": [{"type": "all_of", "assertions": [refunds, {"type": "not", "assertion": says}]}, judged],
    }
    outcome = run("No refund.", ToolCall("issue_refund", {}))
    polite = await evaluate(composed, outcome, FakeServices([vote(True)] * 3))
    rude = await evaluate(composed, outcome, FakeServices([vote(False)] * 3))
    assert (polite.passed, rude.passed) == (True, False)
    assert rude.details["parts"][1]["details"]["agreement"] == 1.0


async def test_each_part_has_its_own_services() -> None:
    positions = []

    def services_for(position: int) -> FakeServices:
        positions.append(position)
        return FakeServices([vote(True)] * 3)

    judge = {"type": "llm_judge", "rubric": "It is polite."}
    composed = scenario(judge, {"type": "all_of", "assertions": [judge, {"type": "not", "assertion": judge}]}, judge)
    await evaluate_all(composed, run("done"), builtin_registry(), services_for)
    assert sorted(positions) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "assertion, path, message",
    [
        ({"type": "all_of", "assertions": []}, ("assertions",), "must not be empty"),
        ({"type": "all_of"}, ("assertions",), "missing"),
        ({"type": "not", "assertion": "no"}, ("assertion",), "must be a mapping"),
        ({"type": "any_of", "assertions": [{"type": "jmspath"}]}, ("assertions", 0, "type"), 'did you mean "jmespath"'),
        (
            {"type": "not", "assertion": {"type": "any_of", "assertions": [{"type": "jmespath", "path": "x["}]}},
            ("assertion", "assertions", 0, "operator"),
            "missing",
        ),
        (
            {"type": "not", "assertion": {"type": "latency_limit", "max_seconds": 1, "weight": 2}},
            ("assertion", "weight"),
            "has no effect inside another assertion",
        ),
        (
            {"type": "all_of", "assertions": [{"type": "custom", "function": "nowhere.check"}]},
            ("assertions", 0, "function"),
            "nowhere.check",
        ),
    ],
)
def test_what_is_wrong_inside_is_found_with_its_place(
    assertion: Mapping[str, Any], path: tuple[str | int, ...], message: str
) -> None:
    assert [(found, message in text) for found, text in findings(assertion) if found[2:] == path] == [
        (("assertions", 0, *path), True)
    ]
