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
    assert returned(EvalResult(False, None)).score == 0.0


def test_a_function_may_say_itself_that_it_could_not_judge() -> None:
    found = returned(EvalResult(None, 0.5, message="no network"))
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
        (EvalResult(True, 1.5), "my_evals.check returned score=1.5. A score lies between 0 and 1."),
        (EvalResult(True, float("nan")), "my_evals.check returned score=nan."),
        (EvalResult(True, True), "my_evals.check returned score=True."),
        (EvalResult("yes", 1.0), "my_evals.check returned passed='yes'."),  # type: ignore[arg-type]
        (EvalResult(True, 1.0, message=123), "my_evals.check returned message=123. It must be text."),  # type: ignore[arg-type]
        (EvalResult(True, 1.0, cause="odd"), "my_evals.check returned cause='odd'. It must be a Cause or None."),  # type: ignore[arg-type]
        (EvalResult(True, 1.0, details=[1]), "my_evals.check returned details=[1]. It must be a dict."),  # type: ignore[arg-type]
        (
            EvalResult(True, 1.0, details={"x": object()}),
            "my_evals.check returned something in details that cannot be stored: JSON has no form for object.",
        ),
        (EvalResult(True, 1.0, actual=b"\xff"), "my_evals.check returned something in actual that cannot be stored: "),
        (EvalResult(None, None, expected=nested(450)), "my_evals.check returned something in expected that"),
        (EvalResult(True, 1.0, attachments={"x": nested(5000)}), "my_evals.check returned something in attachments"),
    ],
)
def test_anything_else_leaves_the_assertion_unjudged(value: Any, said: str) -> None:
    found = returned(value)
    assert (found.passed, found.score, found.cause) == (None, None, Cause.EVALUATOR)
    assert found.error is not None
    assert found.error.startswith(said)
    assert len(found.error) < 400


def test_a_result_is_what_will_be_read_again() -> None:
    odd = EvalResult(True, 1, "\ud800", (1, float("nan")), {2}, details={1: b"x"})  # type: ignore[dict-item]
    found = returned(odd)
    assert (found.message, found.expected, found.actual, found.details) == ("\ud800", [1, "NaN"], [2], {"1": "x"})


def test_an_object_that_cannot_even_be_shown_is_no_verdict() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise ValueError("no")

    assert "something that cannot be shown" in returned(Odd()).message
