"""Results without secrets. What others wrote is redacted; what we measured and named ourselves stays as it is.

A pattern of the user's for long numbers would else match a duration or a hash, and leave a result that nobody can read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from salvo.engine.chat.base import ToolDefinition
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import type_adapter
from salvo.engine.runtime.redact import Redactor
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.run.tools.toolbox import ToolRecord

_OF_A_RESULT = ("error", "final_output", "final_text", "details")
_OF_A_CALL = ("name", "arguments", "result", "error")
_OF_AN_EVENT = ("type", "data")
_OF_A_VERDICT = ("name", "message", "expected", "actual", "error", "details", "attachments")
_OF_A_TOOL = ("name", "description", "parameters")


def redacted(result: AgentRunResult, redactor: Redactor) -> AgentRunResult:
    """Once, before evaluation: what is judged is what is stored."""
    found = _if_touched(result, redactor)
    if found is None:
        return result
    clean = _clean(found, _OF_A_RESULT, redactor)
    clean["tool_calls"] = [_clean(call, _OF_A_CALL, redactor) for call in clean["tool_calls"]]
    clean["trace"] = [_clean(event, _OF_AN_EVENT, redactor) for event in clean["trace"]]
    clean["eval_results"] = [_clean(verdict, _OF_A_VERDICT, redactor) for verdict in clean["eval_results"]]
    return type_adapter(AgentRunResult).validate_python(clean)


def redact_verdicts(result: AgentRunResult, redactor: Redactor) -> None:
    """Of a result that was redacted before it was judged: what the judges and evaluators have brought in."""
    found = _if_touched(result.eval_results, redactor)
    if found is not None:
        clean = [_clean(verdict, _OF_A_VERDICT, redactor) for verdict in found]
        result.eval_results = [type_adapter(EvalResult).validate_python(verdict) for verdict in clean]
    result.error = result.error and redactor.json(result.error)


def clean_calls(calls: list[ToolRecord], redactor: Redactor) -> list[Any]:
    """Calls as they are recorded."""
    found = _if_touched(calls, redactor)
    return calls if found is None else [_clean(call, _OF_A_CALL, redactor) for call in found]


def clean_tools(tools: list[ToolDefinition], redactor: Redactor) -> list[Any]:
    """The definitions of tools, as they are recorded."""
    found = _if_touched(tools, redactor)
    return tools if found is None else [_clean(tool, _OF_A_TOOL, redactor) for tool in found]


def clean_scenario(document: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    """A scenario as it is stored with its batch. Its own settings, such as the time-out, are no place for a secret."""
    settings = {name: value for name, value in document.items() if isinstance(value, int | float)}
    return {**redactor.json({**document, **dict.fromkeys(settings)}), **settings}


def _if_touched(value: Any, redactor: Redactor) -> Any:
    """The value as JSON, where the redactor might find something in it. Mostly it does not, and the walk is long."""
    content = json_codec.dumps(value)
    if not redactor.may_touch(content.decode("utf-8", "replace")):
        return None
    return json_codec.loads(content, max_depth=json_codec.MAX_DEPTH_STORED)


def _clean(value: dict[str, Any], foreign: Iterable[str], redactor: Redactor) -> dict[str, Any]:
    return {**value, **{name: redactor.json(value[name]) for name in foreign}}
