"""A user's own function: how it is called, and what happens if it fails."""

import asyncio
import functools
import threading
from collections.abc import Callable
from typing import Any

import pytest

from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult, TraceEvent
from salvo.scenarios.spec.schema import Assertion, Scenario
from tests.support.evaluation import FakeServices, evaluate, findings, run

CUSTOM = {"type": "custom", "function": "my_evals.check"}


async def called(function: Callable[..., Any], **fields: Any) -> EvalResult:
    return await evaluate(CUSTOM | fields, run("done"), FakeServices(functions={"my_evals.check": function}))


def is_done(scenario: Scenario, assertion: Assertion, result: AgentRunResult) -> EvalResult:
    assert scenario.scenario == "s"
    wanted = assertion.fields["params"]["output"]
    return EvalResult.judged(result.final_output == wanted, "looked at it", expected=wanted, actual=result.final_output)


async def test_a_function_gets_the_scenario_the_assertion_and_the_result() -> None:
    found = await called(is_done, params={"output": "done"}, name="mine", required=True, weight=2)
    assert found == EvalResult(
        passed=True,
        score=1.0,
        message="looked at it",
        expected="done",
        actual="done",
        name="mine",
        type="custom",
        required=True,
        weight=2,
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


async def test_a_score_passes_from_the_min_score_on() -> None:
    assert (await called(lambda *_: 0.75, min_score=0.75)).passed is True
    assert (await called(lambda *_: 0.74, min_score=0.75)).passed is False


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


@pytest.mark.parametrize("function", [is_done, functools.partial(is_done), max, lambda *_: True, TraceEvent])
def test_whatever_takes_three_arguments_is_accepted(function: Callable[..., Any]) -> None:
    assert findings({"type": "custom", "function": "m.f"}, load=lambda path: function) == []
