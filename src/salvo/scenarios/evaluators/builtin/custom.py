"""`custom`: a user's own function, `(scenario, assertion, result) -> EvalResult`.

It may be sync or async, and may return a bool or a score from 0 to 1 instead. An exception, or any other value, leaves
the assertion unjudged: an error in the function is not a failure of the agent.
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, ConfigDict, Field

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import exception_text, type_adapter
from salvo.engine.runtime.threads import in_thread
from salvo.engine.runtime.user_code import abandonable
from salvo.errors import SalvoError
from salvo.records import record
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, FieldMessages, LoadObject, with_alias
from salvo.scenarios.evaluators.verdict import as_eval_result, unjudged
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario


class CustomFields(FileModel):
    """Judged by a function of your own: (scenario, assertion, result) -> EvalResult."""

    model_config = ConfigDict(json_schema_extra=with_alias("function", "path"))

    function: str = Field(
        min_length=1,
        validation_alias=AliasChoices("function", "path"),
        description="The function's dotted path, such as my_evals.check_format (also: path).",
    )
    min_score: float = Field(1.0, ge=0, le=1, description="If the function returns a score: the lowest that passes.")
    params: dict[str, Any] = Field(
        default_factory=dict, description='For the function to read: assertion.fields["params"].'
    )


@record
class _Raised:
    """An exception as a value: StopIteration cannot leave a thread, and SystemExit would end the program."""

    error: BaseException


def function_type(name: str, function: Callable[..., Any]) -> EvaluatorType:
    """Return a plain function as an assertion type, for `Registry.register`."""
    return EvaluatorType(
        name, lambda scenario, assertion, result, _: _judge_by(name, function, 1.0, scenario, assertion, result)
    )


async def _evaluate(
    scenario: Scenario, assertion: Assertion, result: AgentRunResult, services: EvalServices
) -> EvalResult:
    fields = assertion.typed_fields(CustomFields)
    function = services.load(fields.function)
    return await _judge_by(fields.function, function, fields.min_score, scenario, assertion, result)


async def _judge_by(
    name: str,
    function: Callable[..., Any],
    min_score: float,
    scenario: Scenario,
    assertion: Assertion,
    result: AgentRunResult,
) -> EvalResult:
    # A copy, so that the function cannot change the result for the other assertions and the store.
    content = json_codec.loads(json_codec.dumps(result), max_depth=json_codec.MAX_DEPTH_STORED)
    returned = await _call(function, scenario, assertion, type_adapter(AgentRunResult).validate_python(content))
    if isinstance(returned, _Raised):
        return _raised(name, function, returned.error)
    return as_eval_result(returned, name, min_score)


async def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    def call() -> Any:
        try:
            return function(*arguments)
        except BaseException as error:  # noqa: BLE001 - see _Raised
            return _Raised(error)

    # Calling a coroutine function runs nothing yet. Any other function may block, so it runs in a thread.
    returned = call() if inspect.iscoroutinefunction(function) else await in_thread(call)
    try:
        return await abandonable(returned) if inspect.isawaitable(returned) else returned
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        task = asyncio.current_task()
        # A CancelledError without a request to cancel this task is the function's own.
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        return _Raised(error)


def _raised(name: str, function: Callable[..., Any], error: BaseException) -> EvalResult:
    description = f"{type(error).__name__}: {exception_text(error)}".removesuffix(": ")
    frame = _user_frame(function, error)
    where = f" ({Path(frame.filename).name}, line {frame.lineno})" if frame else ""
    result = unjudged(f"{name} raised {description}{where}.")
    result.details = {"exception": description}
    if frame:
        result.details |= {"file": frame.filename, "line": frame.lineno}
    return result


def _user_frame(function: Callable[..., Any], error: BaseException) -> traceback.FrameSummary | None:
    """Return the deepest frame in the function's own file, else the deepest that is not in this module."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    own = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    return next(reversed(own or frames), None)


def _check_fields(_: Scenario, values: Mapping[str, Any], load: LoadObject) -> FieldMessages:
    path = CustomFields.model_validate(values).function
    field = "function" if "function" in values else "path"
    try:
        function = load(path)
    except SalvoError as error:
        return [(field, str(error))]
    except Exception as error:  # noqa: BLE001 - importing a user's file may raise anything
        return [(field, f"{path} cannot be imported: {type(error).__name__}: {error}.")]
    if not callable(function):
        return [(field, f"{path} is a {type(function).__name__}, not a function.")]
    if not _takes_three_arguments(function):
        return [(field, f"{path} must take three arguments: scenario, assertion, result.")]
    return []


def _takes_three_arguments(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(None, None, None)
    except TypeError:
        return False
    except ValueError:  # some functions written in C have no signature
        return True
    return True


TYPE = EvaluatorType("custom", _evaluate, CustomFields, _check_fields)
