"""What an assertion is about: a call, an event of the trace, the end, or the run as a whole. Never guessed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, NamedTuple

from salvo.scenarios.result import AgentRunResult, EvalResult, ToolCall, TraceEvent


class AssertionTarget(NamedTuple):
    kind: Literal["tool_calls", "trace", "end"]
    number: int = 0
    """From 0."""


END = AssertionTarget("end")
_OUTPUT = frozenset({"final_output", "final_text"})
_ABOUT_THE_END = frozenset({"llm_judge", "playbook", "custom"})


def assertion_target(
    judged: EvalResult, written: Mapping[str, Any] | None, result: AgentRunResult
) -> AssertionTarget | None:
    """None is the run as a whole. `written` is the assertion as it stands in the scenario, where that is known."""
    if judged.type in _ABOUT_THE_END:
        return END
    if judged.type == "tool_sequence":
        return _departure(judged, written, result)
    if judged.type == "jmespath" and written is not None and isinstance(written.get("path"), str):
        return _looked_at(written["path"], result)
    return None


def _departure(judged: EvalResult, written: Mapping[str, Any] | None, result: AgentRunResult) -> AssertionTarget | None:
    """The first call that departs from what was expected; the end where it is one that is missing, or none does."""
    from pydantic import ValidationError

    from salvo.scenarios.evaluators.tool_sequence import ToolSequenceFields, first_mismatch

    if judged.passed:
        return END
    if written is None:
        return None
    own = {name: value for name, value in written.items() if name in ToolSequenceFields.model_fields}
    try:
        mismatch = first_mismatch(ToolSequenceFields.model_validate(own), result.tool_calls)
    except ValidationError:
        return None
    if mismatch is None or mismatch.call_index is None:
        return END
    return AssertionTarget("tool_calls", mismatch.call_index)


def _looked_at(path: str, result: AgentRunResult) -> AssertionTarget | None:
    import jmespath
    from jmespath.exceptions import JMESPathError

    from salvo.scenarios.evaluators.jmespath import root_names

    try:
        tree = jmespath.compile(path).parsed
        roots = set(root_names(tree))
        if roots and roots <= _OUTPUT:
            return END
        if roots == {"tool_calls"}:
            number = _one_of(result.tool_calls, tree)
            return None if number is None else AssertionTarget("tool_calls", number)
        if roots == {"trace"}:
            number = _one_of(result.trace, tree)
            return None if number is None else AssertionTarget("trace", number)
    except (JMESPathError, ValueError, RecursionError):
        pass  # a stored path may be anything
    return None


def _one_of(items: Sequence[ToolCall | TraceEvent], tree: Mapping[str, Any]) -> int | None:
    """Which of a root's items a path looks at: by its number, or by a filter that only one of them passes."""
    while tree["type"] in ("subexpression", "pipe", "projection") and tree["children"]:
        tree = tree["children"][0]
    if not tree["children"] or tree["children"][0]["type"] != "field":
        return None
    if tree["type"] == "index_expression" and tree["children"][1]["type"] == "index":
        index = int(tree["children"][1]["value"])
        index += len(items) if index < 0 else 0
        return index if 0 <= index < len(items) else None
    if tree["type"] == "filter_projection":
        passing = [index for index, item in enumerate(items) if _passes(item, tree["children"][2])]
        return passing[0] if len(passing) == 1 else None
    return None


def _passes(item: ToolCall | TraceEvent, condition: Any) -> bool:
    from jmespath.visitor import TreeInterpreter

    itself = {"type": "identity", "children": []}
    filtering: Any = {"type": "filter_projection", "children": [itself, itself, condition]}
    return bool(TreeInterpreter().visit(filtering, [{part.name: getattr(item, part.name) for part in fields(item)}]))
