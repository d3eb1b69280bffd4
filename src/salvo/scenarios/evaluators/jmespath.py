"""`jmespath`: something in the run, found by a JMESPath expression and compared with a value.

The root is the AgentRunResult as JSON. A path that leads nowhere is null, as JMESPath has it, so `eq` null and `ne` of
a value hold for it, and order, `contains` and `regex` fail. Nothing is coerced: "5" is not 5, and true is not 1.
"""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import jmespath
from jmespath.exceptions import JMESPathError, JMESPathTypeError
from jmespath.functions import Functions
from pydantic import Field

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.engine.runtime import safe_regex
from salvo.engine.runtime.threads import in_thread
from salvo.engine.text.messages import did_you_mean, shown
from salvo.scenarios.evaluators.base import EvalServices, Evaluate, EvaluatorType, LoadObject
from salvo.scenarios.evaluators.values import kind, not_json, one_of, same
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.schema import Assertion, FileModel, Scenario

Operator: TypeAlias = Literal["eq", "ne", "gt", "gte", "lt", "lte", "contains", "regex", "exists"]


class JmespathFields(FileModel):
    """Something in the run, found by a path and compared with a value."""

    path: str = Field(min_length=1, description="A JMESPath expression; its root is the run's result.")
    operator: Annotated[Operator, one_of(Operator)] = Field(description="How what is found is compared with `value`.")
    value: Any = Field(
        None,
        description="What it is compared with. With `contains`: a piece of a text, an element of a list or a name in "
        "an object. With `exists`: false asserts that there is nothing.",
    )


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def holds(actual: Any, value: Any) -> bool:
        return kind(actual) == kind(value) and kind(value) in {"number", "string"} and compare(actual, value)

    return holds


def _contains(actual: Any, value: Any) -> bool:
    if isinstance(actual, list):
        return any(same(element, value) for element in actual)
    return isinstance(actual, (str, dict)) and isinstance(value, str) and value in actual


_HOLDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": same,
    "ne": lambda actual, value: not same(actual, value),
    "gt": _ordered(operator.gt),
    "gte": _ordered(operator.ge),
    "lt": _ordered(operator.lt),
    "lte": _ordered(operator.le),
    "contains": _contains,
    "regex": lambda actual, value: isinstance(actual, str) and safe_regex.search(value, actual),
    "exists": lambda actual, value: (actual is not None) == value,
}
_WORDS: Mapping[str, str] = {
    "eq": "to be",
    "ne": "not to be",
    "gt": "to be more than",
    "gte": "to be at least",
    "lt": "to be less than",
    "lte": "to be at most",
    "contains": "to contain",
    "regex": "to match",
}
_ORDER = ("gt", "gte", "lt", "lte")


class _Found(NamedTuple):
    value: Any
    note: str = ""
    """Why there is nothing, where it is not only that the path leads nowhere."""


def _evaluator(_: EvalServices) -> Evaluate:
    def evaluate(_: Scenario, assertion: Assertion, result: AgentRunResult) -> EvalResult | Awaitable[EvalResult]:
        wanted = JmespathFields.model_validate(assertion.fields)
        value = True if wanted.operator == "exists" and wanted.value is None else wanted.value
        found = _search(wanted.path, result)
        if wanted.operator == "regex":
            return _matched(wanted, value, found)
        return _judged(_HOLDS[wanted.operator](found.value, value), wanted, value, found)

    return evaluate


async def _matched(wanted: JmespathFields, value: Any, found: _Found) -> EvalResult:
    """In a thread: an expression may take its time over a long text."""
    return _judged(await in_thread(_HOLDS["regex"], found.value, value), wanted, value, found)


def _judged(holds: bool, wanted: JmespathFields, value: Any, found: _Found) -> EvalResult:
    message = "" if holds else _difference(wanted, value, found)
    return EvalResult.judged(holds, message, expected=value, actual=found.value)


def _search(path: str, result: AgentRunResult) -> _Found:
    expression = jmespath.compile(path)
    try:
        return _Found(expression.search(_seen(expression.parsed, result)))
    except JMESPathTypeError as fault:
        # A function was handed what it does not take, mostly the null of a path that is missing. That is a matter of
        # what the agent put out, so it is nothing found, not an evaluator that broke.
        return _Found(None, f" ({fault})")


def _seen(tree: Mapping[str, Any], result: AgentRunResult) -> Any:
    """The result as JSON has it: as much of it as the path can see, for a trace may be long and assertions many."""
    whole = _is_seen_whole(tree)
    seen = result if whole else {name: getattr(result, name, None) for name in root_names(tree)}
    return json_codec.loads(json_codec.dumps(seen), deepest=json_codec.DEEPEST_OF_OURS)


def _difference(wanted: JmespathFields, value: Any, found: _Found) -> str:
    if wanted.operator == "exists":
        claim = "to exist" if value else "not to exist"
    else:
        claim = f"{_WORDS[wanted.operator]} {shown(value)}"
    if found.value is None:
        return f"expected {wanted.path} {claim}, but the path is missing{found.note}"
    return f"expected {wanted.path} {claim}, got {shown(found.value)}{_unfit(wanted.operator, found.value, value)}"


def _unfit(operator: Operator, actual: Any, value: Any) -> str:
    """Where the kinds of values made it fail whatever they hold."""
    if operator in _ORDER and kind(actual) != kind(value):
        return f", a {kind(actual)}, which has no order with a {kind(value)}"
    if operator == "regex" and not isinstance(actual, str):
        return f", a {kind(actual)}; only text is matched"
    if operator == "contains" and not isinstance(actual, (str, list, dict)):
        return f", a {kind(actual)}, which contains nothing"
    return ""


def _check(_: Scenario, given: Mapping[str, Any], __: LoadObject) -> list[tuple[str | FieldPath, str]]:
    wanted = JmespathFields.model_validate(given)
    return [*(("path", problem) for problem in _path_problems(wanted.path)), *_value_problems(wanted, "value" in given)]


def _path_problems(path: str) -> Iterator[str]:
    try:
        tree = jmespath.compile(path).parsed
    except JMESPathError as fault:
        # The library repeats itself, and draws an arrow below the expression.
        said = str(fault).splitlines()[0].rstrip(":").removeprefix("Invalid jmespath expression: ")
        yield f"{shown(path)} is not a JMESPath expression: {said}."
        return
    known = [part.name for part in fields(AgentRunResult)]
    for name in root_names(tree):
        if name not in known:
            meant = did_you_mean(name, known)
            yield f'A run has no "{name}"{meant} It has final_output, tool_calls, trace, metrics and others.'
    for name in _functions(tree):
        if name not in Functions.FUNCTION_TABLE:
            yield f'JMESPath has no function "{name}"{did_you_mean(name, Functions.FUNCTION_TABLE)}'


_FROM_THE_LEFT = {"subexpression", "index_expression", "projection", "value_projection"} | {
    "filter_projection",
    "flatten",
    "pipe",
}
_FROM_EACH = {"or_expression", "and_expression", "not_expression", "comparator", "function_expression"} | {
    "multi_select_list",
    "multi_select_dict",
    "key_val_pair",
}


def root_names(tree: Mapping[str, Any]) -> Iterator[str]:
    """The names that are looked up in the root itself."""
    if tree["type"] == "field":
        yield tree["value"]
    elif tree["type"] in _FROM_THE_LEFT:
        yield from root_names(tree["children"][0])
    elif tree["type"] in _FROM_EACH:
        for part in tree["children"]:
            yield from root_names(part)


def _is_seen_whole(tree: Mapping[str, Any]) -> bool:
    """Whether a path looks at the root itself, as `@` and `*` do, and not only at what has a name in it."""
    if tree["type"] in _FROM_THE_LEFT:
        return _is_seen_whole(tree["children"][0])
    if tree["type"] in _FROM_EACH:
        return any(map(_is_seen_whole, tree["children"]))
    return tree["type"] not in {"field", "literal", "expref"}


def _functions(tree: Mapping[str, Any]) -> Iterator[str]:
    if tree["type"] == "function_expression":
        yield tree["value"]
    for part in tree["children"]:
        if isinstance(part, Mapping):
            yield from _functions(part)


def _value_problems(wanted: JmespathFields, given: bool) -> Iterator[tuple[str, str]]:
    value, asked = wanted.value, wanted.operator
    stray = not_json(value)
    if stray is not None:
        yield "value", f"value holds a {kind(stray)}, which no JSON value equals. Put it in quotes."
    elif asked == "exists":
        if given and not isinstance(value, bool):
            yield "value", f"With exists, value is true or false, not {shown(value)}."
    elif not given:
        yield "operator", f"{asked} needs a value. To ask for null, write it: value: null."
    elif asked in _ORDER and kind(value) not in {"number", "string"}:
        yield "value", f"{asked} orders numbers or strings; value is a {kind(value)}."
    elif asked == "regex":
        problem = (
            safe_regex.pattern_error(value)
            if isinstance(value, str)
            else f"A regular expression is a string, not a {kind(value)}."
        )
        if problem:
            yield "value", problem


TYPE = EvaluatorType("jmespath", _evaluator, JmespathFields, _check)
