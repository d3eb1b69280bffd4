"""A user's own function: what it may return, and what becomes of everything else it may do."""

import asyncio
import functools
import threading
from collections.abc import Callable
from typing import Any

import pytest

from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult
from salvo.scenarios.spec.schema import Assertion, Scenario
from tests.support.evaluation import FakeServices, evaluate, findings, run

CUSTOM = {"type": "custom", "function": "my_evals.check"}


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


async def returned(value: Any, **fields: Any) -> EvalResult:
    return await called(lambda *_: value, **fields)


async def called(function: Callable[..., Any], **fields: Any) -> EvalResult:
    return await evaluate(CUSTOM | fields, run("done"), FakeServices(functions={"my_evals.check": function}))


def is_done(scenario: Scenario, assertion: Assertion, result: AgentRunResult) -> EvalResult:
    assert scenario.scenario == "s"
    wanted = assertion.fields["params"]["output"]
    return EvalResult.judged(result.final_output == wanted, "looked at it", expected=wanted, actual=result.final_output)


async def test_a_function_gets_the_scenario_the_assertion_and_the_result() -> None:
    found = await called(is_done, params={"output": "done"}, name="mine", required=True, weight=2)
    assert found == EvalResult(
        True, 1.0, "looked at it", "done", "done", name="mine", type="custom", required=True, weight=2
    )


async def test_an_async_function_and_an_object_that_can_be_called_serve_as_well() -> None:
    class Check:
        async def __call__(self, *_: Any) -> float:
            return 1.0

    async def check(*_: Any) -> bool:
        await asyncio.sleep(0)
        return False

    assert (await called(check)).passed is False
    assert (await called(Check())).passed is True
    assert (await called(functools.partial(check))).passed is False


async def test_a_sync_function_does_not_block_the_loop() -> None:
    found = await called(lambda *_: threading.current_thread() is not threading.main_thread())
    assert found.passed


@pytest.mark.parametrize(
    "value, passed, score",
    [(True, True, 1.0), (False, False, 0.0), (1.0, True, 1.0), (0.75, False, 0.75), (0, False, 0.0)],
)
async def test_a_bool_or_a_score_is_a_verdict_too(value: float, passed: bool, score: float) -> None:
    found = await returned(value)
    assert (found.passed, found.score) == (passed, score)


async def test_a_score_passes_from_the_min_score_on() -> None:
    assert (await returned(0.75, min_score=0.75)).passed is True
    assert (await returned(0.74, min_score=0.75)).passed is False


async def test_an_eval_result_without_a_score_gets_the_one_of_its_verdict() -> None:
    assert (await returned(EvalResult(False, None))).score == 0.0


async def test_a_function_may_say_itself_that_it_could_not_judge() -> None:
    found = await returned(EvalResult(None, 0.5, message="no network"))
    assert (found.passed, found.score, found.error, found.cause) == (None, None, "no network", Cause.EVALUATOR)
    assert (await returned(EvalResult.unjudged("x", Cause.JUDGE))).cause is Cause.JUDGE


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
async def test_anything_else_leaves_the_assertion_unjudged(value: Any, said: str) -> None:
    found = await returned(value)
    assert (found.passed, found.score, found.cause) == (None, None, Cause.EVALUATOR)
    assert found.error is not None
    assert found.error.startswith(said)
    assert len(found.error) < 400


async def test_a_result_is_what_will_be_read_again() -> None:
    odd = EvalResult(True, 1, "\ud800", (1, float("nan")), {2}, details={1: b"x"})  # type: ignore[dict-item]
    found = await returned(odd)
    assert (found.message, found.expected, found.actual, found.details) == ("\ud800", [1, "NaN"], [2], {"1": "x"})


async def never() -> bool:
    await asyncio.Event().wait()
    return True


@pytest.mark.parametrize("function", [lambda *_: never(), lambda *_: threading.Event().wait()], ids=["async", "sync"])
async def test_a_function_that_never_ends_is_given_up_on_at_the_scenario_s_timeout(
    function: Callable[..., Any],
) -> None:
    services = FakeServices(functions={"my_evals.check": function})
    found = await evaluate(CUSTOM, run("done"), services, timeout=0.01)
    assert (found.passed, found.cause) == (None, Cause.EVALUATOR)
    assert found.error == "my_evals.check was stopped after 0.01 s, the scenario's timeout."


async def test_an_object_that_cannot_even_be_shown_is_no_verdict() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise ValueError("no")

    assert "something that cannot be shown" in (await returned(Odd())).message


def raising(error: BaseException) -> Callable[..., Any]:
    def check(*_: Any) -> None:
        raise error

    return check


def raising_later(error: BaseException) -> Callable[..., Any]:
    async def check(*_: Any) -> None:
        await asyncio.sleep(0)
        raise error

    return check


@pytest.mark.parametrize("make, below", [(raising, 1), (raising_later, 2)])
@pytest.mark.parametrize("kind", [ValueError, KeyError, SystemExit, asyncio.CancelledError, pytest.fail.Exception])
async def test_an_exception_leaves_the_assertion_unjudged_and_names_the_line(
    make: Callable[[BaseException], Callable[..., Any]], below: int, kind: type[BaseException]
) -> None:
    check = make(kind("no id"))
    found = await called(check)
    line = check.__code__.co_firstlineno + below
    assert (found.passed, found.cause) == (None, Cause.EVALUATOR)
    assert found.error is not None
    assert found.error.startswith(f"my_evals.check raised {kind.__name__}: ")
    assert found.error.endswith(f" (test_custom.py, line {line}).")
    assert (found.details["file"], found.details["line"]) == (__file__, line)


async def test_stop_iteration_from_a_thread_does_not_hang_the_run() -> None:
    assert "StopIteration" in (await called(raising(StopIteration()))).message


async def test_the_line_is_the_users_even_if_a_library_raised() -> None:
    import json

    found = await called(lambda *_: json.loads("{"))
    assert "(test_custom.py, line " in found.message


async def test_a_function_that_takes_other_arguments_is_unjudged_without_a_line() -> None:
    async def check(result: Any) -> bool:
        return True

    found = await called(check)
    assert found.cause is Cause.EVALUATOR
    assert "takes 1 positional argument but 3 were given." in found.message


async def test_a_function_that_changes_the_result_changes_it_for_nobody_else() -> None:
    def spoil(_: Any, __: Any, result: AgentRunResult) -> bool:
        result.final_output["id"] = "forged"
        result.tool_calls.clear()
        return True

    result = run({"id": "real"})
    await evaluate(CUSTOM, result, FakeServices(functions={"my_evals.check": spoil}))
    assert result.final_output == {"id": "real"}


async def test_a_cancelled_run_is_cancelled_and_not_judged() -> None:
    started = asyncio.Event()

    async def check(*_: Any) -> bool:
        started.set()
        await asyncio.sleep(60)
        return True

    task = asyncio.create_task(called(check))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_function_that_cannot_be_found_leaves_the_assertion_unjudged() -> None:
    found = await evaluate(CUSTOM, run("done"))
    assert (found.passed, found.cause) == (None, Cause.EVALUATOR)
    assert found.error == "custom could not be evaluated. my_evals.check cannot be found."


async def test_path_is_another_word_for_function_and_gives_the_label() -> None:
    services = FakeServices(functions={"my_evals.check": lambda *_: True})
    found = await evaluate({"type": "custom", "path": "my_evals.check"}, run("done"), services)
    assert (found.passed, found.name) == (True, "check")


async def test_a_plain_function_can_be_registered_as_a_type_with_fields_of_its_own() -> None:
    def at_most_words(_: Scenario, assertion: Assertion, result: AgentRunResult) -> bool:
        return len(str(result.final_output).split()) <= int(assertion.fields["words"])

    registry = builtin_registry()
    registry.register("at_most_words", at_most_words)
    asked = {"type": "at_most_words", "words": 2}
    assert (await evaluate(asked, run("one two"), registry=registry)).passed is True
    assert (await evaluate(asked, run("one two three"), registry=registry)).passed is False
    broken = await evaluate({"type": "at_most_words"}, run(""), registry=registry)
    assert (broken.cause, broken.type) == (Cause.EVALUATOR, "at_most_words")
    assert broken.message.startswith("at_most_words raised KeyError: 'words' (test_custom.py, line ")


def broken_import(path: str) -> Any:
    raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize(
    "fields, load, place, said",
    [
        ({"function": "my_evals.chek"}, None, "function", "my_evals.chek cannot be found."),
        ({"path": "my_evals.chek"}, None, "path", "my_evals.chek cannot be found."),
        ({"function": "m.f"}, broken_import, "function", "m.f cannot be imported: ZeroDivisionError: division by zero."),
        ({"function": "m.f"}, lambda path: 5, "function", "m.f is a int, not a function."),
        ({"function": "m.f"}, lambda path: (lambda result: True), "function", "m.f must take three arguments"),
        ({"funtion": "m.f"}, lambda path: is_done, "funtion", 'no such field; did you mean "function"?'),
        ({"function": "m.f", "words": 3}, lambda path: is_done, "words", "no such field; there are function, min_score, params"),
    ],
)  # fmt: skip
def test_a_function_that_cannot_be_called_is_refused_before_any_call(
    fields: dict[str, Any], load: Callable[[str], Any] | None, place: str, said: str
) -> None:
    [(path, sentence)] = findings({"type": "custom", **fields}, load=load)
    assert path == ("assertions", 0, place)
    assert sentence.startswith(said)


@pytest.mark.parametrize("function", [is_done, functools.partial(is_done), max, lambda *_: True, EvalResult])
def test_whatever_takes_three_arguments_is_accepted(function: Callable[..., Any]) -> None:
    assert findings({"type": "custom", "function": "m.f"}, load=lambda path: function) == []
