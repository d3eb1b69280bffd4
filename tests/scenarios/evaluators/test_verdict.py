"""What an evaluator may return, and what becomes of any other value."""

from typing import Any

import pytest

from salvo.scenarios.evaluators.verdict import as_eval_result
from salvo.scenarios.result import Cause, EvalResult


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def unchecked(**fields: Any) -> EvalResult:
    """As a function can make it that assigns to the fields of a result."""
    return EvalResult.model_construct(**fields)


def returned(value: Any) -> EvalResult:
    return as_eval_result(value, "my_evals.check")


@pytest.mark.parametrize(
    "value, passed, score",
    [(True, True, 1.0), (False, False, 0.0), (1.0, True, 1.0), (0.75, False, 0.75), (0, False, 0.0)],
)
def test_a_bool_or_a_score_is_a_verdict_too(value: float, passed: bool, score: float) -> None:
    found = returned(value)
    assert (found.passed, found.score) == (passed, score)


def test_an_eval_result_without_a_score_gets_the_one_of_its_verdict() -> None:
    assert returned(EvalResult(passed=False, score=None)).score == 0.0


def test_a_function_may_say_itself_that_it_could_not_judge() -> None:
    found = returned(EvalResult(passed=None, score=0.5, message="no network"))
    assert (found.passed, found.score, found.error, found.cause) == (None, None, "no network", Cause.EVALUATOR)
    assert returned(EvalResult.unjudged("x", Cause.JUDGE)).cause is Cause.JUDGE


@pytest.mark.parametrize(
    "value, said",
    [
        (None, "my_evals.check returned None. It must be an EvalResult, a bool or a number from 0 to 1."),
        ("yes", "my_evals.check returned 'yes'."),
        (float("nan"), "my_evals.check returned nan."),
        (1.0001, "my_evals.check returned 1.0001."),
        (-1, "my_evals.check returned -1."),
        ("x" * 1_000, "my_evals.check returned 'xxx"),
        (EvalResult(passed=True, score=1.5), "my_evals.check returned score=1.5. A score lies between 0 and 1."),
        (EvalResult(passed=True, score=float("nan")), "my_evals.check returned score=nan."),
        (unchecked(passed=True, score=True), "my_evals.check returned score=True."),
        (unchecked(passed="yes", score=1.0), "my_evals.check returned passed='yes'."),
        (
            unchecked(passed=True, score=1.0, message=123),
            "my_evals.check returned message=123. It must be text.",
        ),
        (
            unchecked(passed=True, score=1.0, cause="odd"),
            "my_evals.check returned cause='odd'. It must be a Cause or None.",
        ),
        (
            unchecked(passed=True, score=1.0, details=[1]),
            "my_evals.check returned details=[1]. It must be a dict.",
        ),
        (
            EvalResult(passed=True, score=1.0, details={"x": object()}),
            "my_evals.check returned something in details that cannot be stored: JSON has no form for object.",
        ),
        (
            EvalResult(passed=True, score=1.0, actual=b"\xff"),
            "my_evals.check returned something in actual that cannot be stored: ",
        ),
        (
            EvalResult(passed=None, score=None, expected=nested(450)),
            "my_evals.check returned something in expected that",
        ),
        (
            EvalResult(passed=True, score=1.0, attachments={"x": nested(5000)}),
            "my_evals.check returned something in attachments",
        ),
    ],
)
def test_anything_else_leaves_the_assertion_unjudged(value: Any, said: str) -> None:
    found = returned(value)
    assert (found.passed, found.score, found.cause) == (None, None, Cause.EVALUATOR)
    assert found.error is not None
    assert found.error.startswith(said)
    assert len(found.error) < 400


def test_a_result_is_what_will_be_read_again() -> None:
    odd = EvalResult(
        passed=True,
        score=1,
        message="\ud800",
        expected=(1, float("nan")),
        actual={2},
        details={1: b"x"},
    )
    found = returned(odd)
    assert (found.message, found.expected, found.actual, found.details) == ("\ud800", [1, "NaN"], [2], {"1": "x"})


def test_an_object_that_cannot_even_be_shown_is_no_verdict() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise ValueError("no")

    assert "something that cannot be shown" in returned(Odd()).message
