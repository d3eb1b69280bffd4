"""`custom`: a user's own function, `(scenario, assertion, result) -> EvalResult`. Its faults are not the agent's.

It may be sync or async, and may return a bool or a score from 0 to 1 instead. An exception, or anything else it
returns, leaves the assertion unjudged and says where in the user's file to look.
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, ConfigDict, Field

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.engine.jsonio.type_adapters import reader
from salvo.engine.runtime.threads import in_thread
from salvo.errors import SalvoError
from salvo.scenarios.evaluators.base import EvalServices, Evaluate, EvaluatorType, LoadObject, with_alias
from salvo.scenarios.evaluators.verdict import as_eval_result, unjudged
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.schema import Assertion, FileModel, Scenario


class CustomFields(FileModel):
    """Judged by a function of your own: (scenario, assertion, result) -> EvalResult."""

    model_config = ConfigDict(json_schema_extra=with_alias("function", "path"))

    function: str = Field(
        min_length=1,
        validation_alias=AliasChoices("function", "path"),
        description="The function's dotted path, such as my_evals.check_format (also: path).",
    )
    min_score: float = Field(1.0, ge=0, le=1, description="Where the function returns a score: from here on it passes.")
    params: dict[str, Any] = Field(
        default_factory=dict, description='For the function to read: assertion.fields["params"].'
    )


@dataclass(frozen=True, slots=True)
class _Raised:
    """An exception as a value: StopIteration cannot cross from a thread, and SystemExit would end the program."""

    error: BaseException


def function_type(name: str, function: Callable[..., Any]) -> EvaluatorType:
    """A plain function as a type of its own, for `Registry.register`."""

    def evaluator(_: EvalServices) -> Evaluate:
        async def evaluate(scenario: Scenario, assertion: Assertion, result: AgentRunResult) -> EvalResult:
            return await _called(name, function, 1.0, scenario, assertion, result)

        return evaluate

    return EvaluatorType(name, evaluator)


def _evaluator(services: EvalServices) -> Evaluate:
    async def evaluate(scenario: Scenario, assertion: Assertion, result: AgentRunResult) -> EvalResult:
        fields = CustomFields.model_validate(assertion.fields)
        function = services.load(fields.function)
        return await _called(fields.function, function, fields.min_score, scenario, assertion, result)

    return evaluate


async def _called(
    who: str,
    function: Callable[..., Any],
    min_score: float,
    scenario: Scenario,
    assertion: Assertion,
    result: AgentRunResult,
) -> EvalResult:
    # A copy: the other assertions look at this result at the same time, and what is judged is what is stored.
    content = json_codec.loads(json_codec.dumps(result), deepest=json_codec.DEEPEST_OF_OURS)
    returned = await _returned(function, scenario, assertion, reader(AgentRunResult).validate_python(content))
    if isinstance(returned, _Raised):
        return _failure(who, function, returned.error)
    return as_eval_result(returned, who, min_score)


async def _returned(function: Callable[..., Any], *arguments: Any) -> Any:
    def call() -> Any:
        try:
            return function(*arguments)
        except BaseException as error:  # noqa: BLE001 - see _Raised
            return _Raised(error)

    # Calling a coroutine function runs nothing yet; anything else may block, and the loop must not.
    returned = call() if inspect.iscoroutinefunction(function) else await in_thread(call)
    return await _awaited(returned) if inspect.isawaitable(returned) else returned


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    try:
        return await awaitable
    except BaseException as error:
        if _is_ours(error):
            raise
        return _Raised(error)


def _is_ours(error: BaseException) -> bool:
    """Whether somebody wants this task to end. A CancelledError that nobody asked for is the function's own."""
    task = asyncio.current_task()
    cancelled = isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0
    return cancelled or isinstance(error, (KeyboardInterrupt, GeneratorExit))


def _failure(who: str, function: Callable[..., Any], error: BaseException) -> EvalResult:
    said = f"{type(error).__name__}: {error}".removesuffix(": ")
    frame = _frame(function, error)
    where = f" ({Path(frame.filename).name}, line {frame.lineno})" if frame else ""
    verdict = unjudged(f"{who} raised {said}{where}.")
    verdict.details = {"exception": said}
    if frame:
        verdict.details |= {"file": frame.filename, "line": frame.lineno}
    return verdict


def _frame(function: Callable[..., Any], error: BaseException) -> traceback.FrameSummary | None:
    """Where to look: the deepest line in the function's own file, else the deepest that is not ours."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    own = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    return next(reversed(own or frames), None)


def _check(_: Scenario, given: Mapping[str, Any], load: LoadObject) -> list[tuple[str | FieldPath, str]]:
    path = CustomFields.model_validate(given).function
    field = "function" if "function" in given else "path"
    try:
        function = load(path)
    except SalvoError as fault:
        return [(field, str(fault))]
    except Exception as fault:  # noqa: BLE001 - importing a user's file runs whatever is in it
        return [(field, f"{path} cannot be imported: {type(fault).__name__}: {fault}.")]
    if not callable(function):
        return [(field, f"{path} is a {type(function).__name__}, not a function.")]
    if not _takes_three(function):
        return [(field, f"{path} must take three arguments: scenario, assertion, result.")]
    return []


def _takes_three(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(None, None, None)
    except TypeError:
        return False
    except ValueError:  # Some functions written in C do not tell.
        return True
    return True


TYPE = EvaluatorType("custom", _evaluator, CustomFields, _check)
