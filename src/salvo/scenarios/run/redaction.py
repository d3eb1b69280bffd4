"""Redact results. Only text from outside is redacted, not what Salvo measured or named itself.

A user's pattern for long numbers could otherwise match a duration or a hash, and make the result unreadable.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.type_adapters import type_adapter
from salvo.engine.runtime.redact import Redactor
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.schema import Scenario

_RESULT_FIELDS = ("error", "final_output", "final_text", "details")
CALL_FIELDS = ("name", "arguments", "result", "error")
_TURN_FIELDS = ("user", "agent")
_EVENT_FIELDS = ("type", "data")
_EVAL_FIELDS = ("name", "message", "expected", "actual", "error", "details", "attachments")
TOOL_FIELDS = ("name", "description", "parameters")


def redacted(result: AgentRunResult, redactor: Redactor) -> AgentRunResult:
    """Return the result without secrets. This is done before evaluation, so that what is judged is what is stored."""
    content = _json_if_affected(result, redactor)
    if content is None:
        return result
    clean = _clean(content, _RESULT_FIELDS, redactor)
    clean["tool_calls"] = [_clean(call, CALL_FIELDS, redactor) for call in clean["tool_calls"]]
    clean["trace"] = [_clean(event, _EVENT_FIELDS, redactor) for event in clean["trace"]]
    clean["turns"] = [_clean(turn, _TURN_FIELDS, redactor) for turn in clean["turns"]]
    clean["eval_results"] = [_clean(verdict, _EVAL_FIELDS, redactor) for verdict in clean["eval_results"]]
    return type_adapter(AgentRunResult).validate_python(clean)


def redact_verdicts(result: AgentRunResult, redactor: Redactor) -> None:
    """Redact what judges and evaluators added to a result that was redacted before."""
    clean = clean_items(result.eval_results, _EVAL_FIELDS, redactor)
    if clean is not result.eval_results:
        result.eval_results = [type_adapter(EvalResult).validate_python(verdict) for verdict in clean]
    result.error = result.error and redactor.json(result.error)


def clean_items(items: list[Any], names: Iterable[str], redactor: Redactor) -> list[Any]:
    """Return the same list, or if one of these fields might have to be redacted, a list of JSON data."""
    content = _json_if_affected(items, redactor)
    return items if content is None else [_clean(item, names, redactor) for item in content]


def clean_scenario(scenario: Scenario, redactor: Redactor) -> dict[str, Any]:
    """Return a scenario as it is stored with its batch. Its numbers, such as the timeout, are not redacted."""
    return clean_document(scenario.model_dump(mode="json"), redactor)  # with all defaults, for later versions


def clean_document(document: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    """Return a stored scenario, redacted again: its version may have known fewer secrets."""
    settings = {name: value for name, value in document.items() if isinstance(value, int | float)}
    return {**redactor.json({**document, **dict.fromkeys(settings)}), **settings}


def _json_if_affected(value: Any, redactor: Redactor) -> Any:
    """Return the value as JSON if the redactor might change it, else None. This check is faster than redacting."""
    content = json_codec.dumps(value)
    if not redactor.may_touch(content.decode("utf-8", "replace")):
        return None
    return json_codec.loads(content, max_depth=json_codec.MAX_DEPTH_STORED)


def _clean(value: dict[str, Any], names: Iterable[str], redactor: Redactor) -> dict[str, Any]:
    return {**value, **{name: redactor.json(value[name]) for name in names}}
