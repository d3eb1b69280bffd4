"""`jmespath`: a value in the run, found by a JMESPath expression and compared with the expected value.

The root is the AgentRunResult as JSON. As JMESPath defines it, a path that leads nowhere is null: `eq` null and `ne` of
a value hold for it, and order, `contains` and `regex` fail. Nothing is coerced: "5" is not 5, and true is not 1.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import jmespath
from jmespath.exceptions import JMESPathError, JMESPathTypeError
from jmespath.functions import Functions
from pydantic import Field

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime import safe_regex
from salvo.engine.sandbox import workers
from salvo.engine.sandbox.workers import in_killable_thread
from salvo.engine.text.messages import did_you_mean, excerpt
from salvo.errors import InputError
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, FieldMessages, LoadObject
from salvo.scenarios.evaluators.values import first_non_json, json_equal, json_kind
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Assertion, Scenario

Operator: TypeAlias = Literal["eq", "ne", "gt", "gte", "lt", "lte", "contains", "regex", "exists", "not_empty"]


class JmespathFields(FileModel):
    """A value in the run, found by a path and compared with an expected value."""

    path: str = Field(min_length=1, description="A JMESPath expression; its root is the run's result.")
    operator: Operator = Field(description="How it is compared with `value`.")
    value: Any = Field(
        None,
        description="What it is compared with. With `contains`: a part of a text, an element of a list or a key of an "
        "object. With `exists`: false asserts that there is no value. With `not_empty`: none.",
    )


def _in_order(compare: Callable[[Any, Any], bool], actual: Any, value: Any) -> bool:
    kind = json_kind(value)
    return json_kind(actual) == kind and kind in {"number", "string"} and compare(actual, value)


def _contains(actual: Any, value: Any) -> bool:
    if isinstance(actual, list):
        return any(json_equal(element, value) for element in actual)
    return isinstance(actual, (str, dict)) and isinstance(value, str) and value in actual


def _is_empty(actual: Any) -> bool:
    """Return whether it is null, a text of spaces at most, or a list or object without elements."""
    return actual is None or (isinstance(actual, str) and not actual.strip()) or actual in ([], {})


_OPERATORS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "eq": ("to be", json_equal),
    "ne": ("not to be", lambda actual, value: not json_equal(actual, value)),
    "gt": ("to be more than", partial(_in_order, operator.gt)),
    "gte": ("to be at least", partial(_in_order, operator.ge)),
    "lt": ("to be less than", partial(_in_order, operator.lt)),
    "lte": ("to be at most", partial(_in_order, operator.le)),
    "contains": ("to contain", _contains),
    "regex": ("to match", lambda actual, value: isinstance(actual, str) and safe_regex.search(value, actual)),
    "exists": ("to exist", lambda actual, value: (actual is not None) == value),
    "not_empty": ("not to be empty", lambda actual, _: not _is_empty(actual)),
}
"""How each operator is called in a message, and how it compares the actual value with the expected one."""
_MAX_ACTUAL = 10_000
_ORDERING = ("gt", "gte", "lt", "lte")


class Match(NamedTuple):
    value: Any
    note: str = ""
    """What to say of a value that is null: whether the path is missing, or a function got the wrong type."""


def _evaluate(
    _: Scenario, assertion: Assertion, result: AgentRunResult, __: EvalServices
) -> EvalResult | Awaitable[EvalResult]:
    fields = assertion.typed_fields(JmespathFields)
    path_search = PathSearch(fields.path, result)
    if path_search.is_slow or fields.operator == "regex":
        # A path may take long on a large value, and a pattern on a long text.
        return in_killable_thread(lambda: _compare(fields, path_search.run()))
    return _compare(fields, path_search.run())


def _compare(fields: JmespathFields, match: Match) -> EvalResult:
    value = True if fields.operator == "exists" and fields.value is None else fields.value
    _, compare = _OPERATORS[fields.operator]
    passed = compare(match.value, value)
    message = "" if passed else _difference(fields, value, match)
    return EvalResult.judged(passed, message, expected=value, actual=short_value(match.value))


def short_value(value: Any) -> Any:
    """Return the value, or the beginning of a large one: the run itself holds all of it."""
    if value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _MAX_ACTUAL):
        return value
    if isinstance(value, str):
        return f"{value[:_MAX_ACTUAL]}… ({len(value):,} characters)"
    text = json_codec.dumps(value).decode("utf-8", "replace")
    return value if len(text) <= _MAX_ACTUAL else f"{text[:_MAX_ACTUAL]}… ({len(text):,} characters)"


class PathSearch:
    """The search for the value at a path of a run."""

    def __init__(self, path: str, result: AgentRunResult) -> None:
        self._path = path
        self._expression = jmespath.compile(path)
        self._tree = self._expression.parsed
        # Only what the path can reach, because the whole may hold a long trace.
        names = root_names(self._tree)
        part = result if _needs_root(self._tree) else {name: getattr(result, name, None) for name in names}
        text = json_codec.dumps(part)
        self._content: dict[str, Any] = json_codec.loads(text, max_depth=json_codec.MAX_DEPTH_STORED)
        if self._content.get("turns"):
            self._content["turns"] = _turns(result)
            text = json_codec.dumps(self._content)
        self.is_slow = len(text) * _growth(self._tree) * _size(self._tree) > _MAX_WORK
        """Whether it may take long. Then a worker process does it, and `run` blocks."""

    def run(self) -> Match:
        """Return the value. Raise InputError if the search takes too long."""
        try:
            value = self._run_in_worker() if self.is_slow else self._expression.search(self._content)
        except JMESPathTypeError as error:
            return _no_value(str(error))
        if isinstance(value, Match):
            return value
        is_missing = value is None and _is_missing(self._tree, self._content)
        return Match(value, "but the path is missing" if is_missing else "got null")

    def _run_in_worker(self) -> Any:
        content = json_codec.dumps(self._content)
        answer = workers.run("jmespath", "search", {"path": self._path}, seconds=_TIMEOUT, content=content)
        if answer.failure:
            raise InputError(
                f"The search did not finish{answer.failure}: {excerpt(self._path, 80)}.",
                hint="The run holds too much for this path. Name a smaller part of it.",
            )
        [reply] = answer.results
        return _no_value(reply["type_error"]) if "type_error" in reply else reply["value"]


def _no_value(error: str) -> Match:
    """Return what a function gives for a type that it does not take, mostly null from a missing path.

    This depends on the agent's output, so it counts as no value and not as an error of the evaluator.
    """
    return Match(None, f"but it has no value ({error})")


async def search(path: str, result: AgentRunResult) -> Match:
    """Return the value at a path of the run. Raise InputError if the search takes too long."""
    path_search = PathSearch(path, result)
    return await in_killable_thread(path_search.run) if path_search.is_slow else path_search.run()


def _turns(result: AgentRunResult) -> Any:
    """Return the turns of a conversation with their own tool calls and trace, which are stored with the run only."""
    turns = [
        {**dict(turn), "output": turn.output, "tool_calls": turn.tool_calls, "trace": turn.trace}
        for turn in result.turns
    ]
    return json_codec.loads(json_codec.dumps(turns), max_depth=json_codec.MAX_DEPTH_STORED)


def _is_missing(tree: Mapping[str, Any], content: Any) -> bool:
    """Return whether a path of names and indexes leads nowhere. Any other expression gives null by itself."""
    return _follow(tree, content) is _NOWHERE


_NOWHERE = object()


def _follow(tree: Mapping[str, Any], content: Any) -> Any:
    """Return the value at a path of names and indexes; None for any other expression."""
    if tree["type"] in ("subexpression", "index_expression"):
        for part in tree["children"]:
            content = _follow(part, content)
            if content is _NOWHERE:
                break
        return content
    if tree["type"] == "field":
        return content.get(tree["value"], _NOWHERE) if isinstance(content, dict) else _NOWHERE
    if tree["type"] == "index":
        index = tree["value"]
        return content[index] if isinstance(content, list) and -len(content) <= index < len(content) else _NOWHERE
    return None


def _difference(fields: JmespathFields, value: Any, match: Match) -> str:
    phrase, _ = _OPERATORS[fields.operator]
    claim = phrase if fields.operator == "not_empty" else f"{phrase} {excerpt(value)}"
    if fields.operator == "exists":
        claim = phrase if value else f"not {phrase}"
    if match.value is None:
        return f"expected {fields.path} {claim}, {match.note}"
    return (
        f"expected {fields.path} {claim}, got {excerpt(match.value)}{_kind_note(fields.operator, match.value, value)}"
    )


def _kind_note(operator: Operator, actual: Any, value: Any) -> str:
    """Return a note if the kind of the value cannot satisfy the operator."""
    if operator in _ORDERING and json_kind(actual) != json_kind(value):
        return f", a {json_kind(actual)}, which has no order with a {json_kind(value)}"
    if operator == "regex" and not isinstance(actual, str):
        return f", a {json_kind(actual)}; only text is matched"
    if operator == "contains" and not isinstance(actual, (str, list, dict)):
        return f", a {json_kind(actual)}, which contains nothing"
    return ""


def _check_fields(_: Scenario, values: Mapping[str, Any], __: LoadObject) -> FieldMessages:
    fields = JmespathFields.model_validate(values)
    yield from (("path", error) for error in path_errors(fields.path))
    yield from _value_errors(fields, "value" in values)


def path_errors(path: str) -> Iterator[str]:
    """Yield what is wrong with a path, before any run."""
    try:
        tree = jmespath.compile(path).parsed
    except JMESPathError as error:
        # The library repeats itself, and draws an arrow below the expression.
        reason = str(error).splitlines()[0].rstrip(":").removeprefix("Invalid jmespath expression: ")
        yield f"{excerpt(path)} is not a JMESPath expression: {reason}."
        return
    names = list(AgentRunResult.model_fields)
    for name in root_names(tree):
        if name not in names:
            suggestion = did_you_mean(name, names)
            yield f'A run has no "{name}"{suggestion} It has final_output, tool_calls, trace, metrics and others.'
    if _growth(tree) > _MAX_GROWTH:
        yield f"{excerpt(path)} would repeat parts of the run more than {_MAX_GROWTH:,} times."
    for name in _function_names(tree):
        if name not in Functions.FUNCTION_TABLE:
            yield f'JMESPath has no function "{name}"{did_you_mean(name, Functions.FUNCTION_TABLE)}'


# The types of JMESPath nodes by which of their children are evaluated against the root.
_FIRST_CHILD_SEES_ROOT = frozenset({
    "subexpression", "index_expression", "projection", "value_projection", "filter_projection", "flatten", "pipe",
})  # fmt: skip
_CHILDREN_SEE_ROOT = frozenset({
    "or_expression", "and_expression", "not_expression", "comparator", "function_expression", "multi_select_list",
    "multi_select_dict", "key_val_pair",
})  # fmt: skip


def root_names(tree: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names that are looked up in the root itself."""
    if tree["type"] == "field":
        yield tree["value"]
    elif tree["type"] in _FIRST_CHILD_SEES_ROOT:
        yield from root_names(tree["children"][0])
    elif tree["type"] in _CHILDREN_SEE_ROOT:
        for part in tree["children"]:
            yield from root_names(part)


def _needs_root(tree: Mapping[str, Any]) -> bool:
    """Return whether a path reads the root itself, as `@` and `*` do, and not only named fields of it."""
    if tree["type"] in _FIRST_CHILD_SEES_ROOT:
        return _needs_root(tree["children"][0])
    if tree["type"] in _CHILDREN_SEE_ROOT:
        return any(map(_needs_root, tree["children"]))
    return tree["type"] not in {"field", "literal", "expref"}


_MAX_GROWTH = 10_000
_MAX_WORK = 10_000_000
"""Bytes of the value, times the parts of the expression, times how much larger its result may be."""
_TIMEOUT = 10.0


def _size(tree: Mapping[str, Any]) -> int:
    return 1 + sum(_size(part) for part in tree["children"] if isinstance(part, Mapping))


def _growth(tree: Mapping[str, Any]) -> int:
    """Return an upper bound for how many times larger than what it is applied to the result of an expression is.

    `[@, @] | [@, @] | ...` doubles at each step, so that a short expression would use up all memory.
    """
    parts = [_growth(part) for part in tree["children"] if isinstance(part, Mapping)]
    if tree["type"] in _CHILDREN_SEE_ROOT:
        # At least 2 for a list or object: each level of text inside text may double its backslashes.
        least = 2 if tree["type"] in _BUILDERS else 1
        return min(max(least, sum(parts)), _MAX_GROWTH + 1)
    return min(math.prod(parts), _MAX_GROWTH + 1)


_BUILDERS = frozenset({"multi_select_list", "multi_select_dict"})


def _function_names(tree: Mapping[str, Any]) -> Iterator[str]:
    if tree["type"] == "function_expression":
        yield tree["value"]
    for part in tree["children"]:
        if isinstance(part, Mapping):
            yield from _function_names(part)


def _optional_value_errors(fields: JmespathFields, has_value: bool) -> Iterator[tuple[str, str]]:
    if has_value and fields.operator == "not_empty":
        yield "value", "not_empty takes no value."
    elif has_value and not isinstance(fields.value, bool):
        yield "value", f"With exists, value is true or false, not {excerpt(fields.value)}."


def _value_errors(fields: JmespathFields, has_value: bool) -> Iterator[tuple[str, str]]:
    value, operator = fields.value, fields.operator
    non_json = first_non_json(value)
    if non_json is not None:
        yield "value", f"value holds a {json_kind(non_json)}, which no JSON value equals. Put it in quotes."
    elif operator in ("exists", "not_empty"):
        yield from _optional_value_errors(fields, has_value)
    elif not has_value:
        yield "operator", f"{operator} needs a value. To compare with null, write value: null."
    elif operator in _ORDERING and json_kind(value) not in {"number", "string"}:
        yield "value", f"{operator} orders numbers or strings; value is a {json_kind(value)}."
    elif operator == "regex":
        if not isinstance(value, str):
            yield "value", f"A regular expression is a string, not a {json_kind(value)}."
        elif error := safe_regex.pattern_error(value):
            yield "value", error


TYPE = EvaluatorType("jmespath", _evaluate, JmespathFields, _check_fields)
