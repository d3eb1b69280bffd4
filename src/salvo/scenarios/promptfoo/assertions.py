"""Translate the assertions of promptfoo. What has no counterpart is noted and left out.

Each assertion becomes one assertion. A value may contain variables of the test; they are replaced here, because
promptfoo inserts them as text everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.engine.runtime import safe_regex
from salvo.scenarios.promptfoo.expressions import translate_expression
from salvo.scenarios.promptfoo.notes import ImportNotes
from salvo.scenarios.promptfoo.providers import judge_name

Fields: TypeAlias = dict[str, Any]
_Translator: TypeAlias = Callable[[Any, Fields, bool], Fields]

_TEXT = "final_text"
_KNOWN = {"type", "value", "threshold", "weight", "metric", "provider"}
_DEFAULT_DISTANCE = 5
_LARGEST = 1e12
_FINISH_REASONS = {"stop": "end", "length": "length", "content_filter": "refusal"}
_NEGATED = "not-"


class UntranslatableError(Exception):
    """Says why an assertion cannot be translated."""


def translate(
    assertion: Any, path: FieldPath, variables: Mapping[str, Any], grader: Any, notes: ImportNotes
) -> list[Fields]:
    """Return the assertion as one of Salvo's, or nothing with a note. A set of assertions becomes several."""
    if not isinstance(assertion, dict) or not isinstance(assertion.get("type"), str):
        notes.skip(path, "is not an assertion with a type")
        return []
    if assertion["type"] == "assert-set":
        return _translate_set(assertion, path, variables, grader, notes)
    try:
        for name in assertion:
            if name not in _KNOWN and not (name == "config" and not assertion[name]):
                raise UntranslatableError(f"{name} has no counterpart")
        fields = _translate_one({**assertion, "provider": assertion.get("provider", grader)}, variables)
    except UntranslatableError as reason:
        notes.skip(path, f"{assertion['type']} was left out: {reason}")
        return []
    if (name := assertion["type"].removeprefix(_NEGATED)) in _JUDGED and name != "llm-rubric":
        notes.change(path, f"{name} is judged by llm_judge, with a rubric in place of promptfoo's prompt")
    if name == "javascript" and "length(" in str(fields):
        notes.change(path, "counts characters, where JavaScript counts an emoji as two")
    if isinstance(metric := assertion.get("metric"), str):
        fields["name"] = render(metric, variables)
    if "weight" in assertion:
        fields["weight"] = assertion["weight"]
    return [fields]


def _translate_set(
    assertion: Fields, path: FieldPath, variables: Mapping[str, Any], grader: Any, notes: ImportNotes
) -> list[Fields]:
    if "threshold" in assertion:
        notes.skip(path, "assert-set was left out: a threshold for a part of the assertions has no counterpart")
        return []
    parts = assertion.get("assert")
    # All parts of a set without a threshold must pass, as all assertions must.
    translated = [
        fields
        for index, part in enumerate(parts if isinstance(parts, list) else [])
        for fields in translate(part, (*path, "assert", index), variables, grader, notes)
    ]
    # Together they weigh as much as the set, whose score is their mean.
    weights = [fields.get("weight", 1) for fields in translated]
    total, weight = sum(map(_weight, weights)), _weight(assertion.get("weight", 1))
    if total and weight != total:
        for fields in translated:
            fields["weight"] = round(_weight(fields.get("weight", 1)) * weight / total, 6)
    return translated


def _weight(value: Any) -> float:
    return value if isinstance(value, int | float) else 1


def render(text: str, variables: Mapping[str, Any]) -> str:
    """Replace {{ name }}. Raise UntranslatableError for anything else that promptfoo's templates can do."""
    if "{%" in text or "{#" in text:
        raise UntranslatableError("it uses a template language; Salvo has {{ name }} only")

    def value(match: re.Match[str]) -> str:
        name = match[1].strip()
        if name not in variables:
            raise UntranslatableError(f"{{{{ {name} }}}} is not the name of a variable of the test")
        item = variables[name]
        return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)

    return re.sub(r"\{\{([^{}]*)\}\}", value, text)


def _rendered(value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        if value.startswith("file://"):
            raise UntranslatableError(f"its value is in the file {value.removeprefix('file://')}")
        return render(value, variables)
    if isinstance(value, list):
        return [_rendered(item, variables) for item in value]
    if isinstance(value, dict):
        return {name: _rendered(item, variables) for name, item in value.items()}
    return value


def _translate_one(assertion: Fields, variables: Mapping[str, Any]) -> Fields:
    kind = assertion["type"]
    negate = kind.startswith(_NEGATED)
    name = kind.removeprefix(_NEGATED)
    value = _rendered(assertion.get("value"), variables)
    if name in _JUDGED:
        return _llm_judge(name, value, assertion, negate)
    if name not in _TRANSLATORS:
        raise UntranslatableError("Salvo has no such assertion")
    if "threshold" in assertion and name not in _WITH_THRESHOLD:
        raise UntranslatableError("its threshold has no counterpart")
    return _TRANSLATORS[name](value, assertion, negate)


# --- Each type: (value, assertion, whether it is negated) -> fields


def _equals(value: Any, _: Fields, negate: bool) -> Fields:
    operator = "ne" if negate else "eq"
    if isinstance(value, dict | list):
        return {"type": "jmespath", "path": "final_output", "operator": operator, "value": value}
    return {"type": "jmespath", "path": _TEXT, "operator": operator, "value": _as_text(value)}


def _contains(value: Any, _: Fields, negate: bool) -> Fields:
    if negate:
        return {"type": "text", "contains_all": [_as_text(value)], "negate": True}
    return {"type": "jmespath", "path": _TEXT, "operator": "contains", "value": _as_text(value)}


def _text(**fields: Any) -> Callable[[Any, Fields, bool], Fields]:
    """Return a translator to the type `text`; the field whose value is None takes the assertion's value."""

    def translator(value: Any, _: Fields, negate: bool) -> Fields:
        filled = {name: _texts(value, name) if item is None else item for name, item in fields.items()}
        return {"type": "text", **filled, **({"negate": True} if negate else {})}

    return translator


def _texts(value: Any, field: str) -> Any:
    if field == "starts_with":
        return _as_text(value)
    if isinstance(value, str):
        # promptfoo takes a list, or a text with commas.
        items = [part.strip() for part in value.split(",")]
    elif isinstance(value, list):
        items = [_as_text(part) for part in value]
    else:
        raise UntranslatableError("its value must be a list or a text with commas")
    return items


def _ignoring_case(value: Any, _: Fields, negate: bool) -> Fields:
    return {
        "type": "text",
        "contains_all": [_as_text(value)],
        "ignore_case": True,
        **({"negate": True} if negate else {}),
    }


def _regex(value: Any, _: Fields, negate: bool) -> Fields:
    pattern = _python_pattern(_as_text(value))
    # As in JavaScript, \d and \w are of ASCII.
    pattern = rf"(?a)\A(?![\s\S]*(?:{pattern}))" if negate else f"(?a){pattern}"
    if error := safe_regex.pattern_error(pattern):
        raise UntranslatableError(f"Python cannot read its regular expression ({error.rstrip('.')})")
    return {"type": "jmespath", "path": _TEXT, "operator": "regex", "value": pattern}


def _python_pattern(pattern: str) -> str:
    """Return a regular expression of JavaScript for Python, where $ also matches before a last line break."""
    tokens = re.findall(r"\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?<(?![=!])|[\s\S]", pattern)
    return "".join({"$": r"\Z", "(?<": "(?P<"}.get(token, token) for token in tokens)


def _is_json_text(value: Any, _: Fields, negate: bool) -> Fields:
    # The final output is parsed if the whole text is JSON. Salvo also accepts a fence around it, promptfoo does not.
    path = "final_output != final_text && !starts_with(final_text, '```')"
    if value is None:
        return {"type": "jmespath", "path": path, "operator": "eq", "value": not negate}
    if not isinstance(value, dict):
        raise UntranslatableError("its schema is not written as a mapping")
    is_json = {"type": "jmespath", "path": path, "operator": "eq", "value": True}
    both = {"type": "all_of", "assertions": [is_json, {"type": "json_schema", "schema": value}]}
    return {"type": "not", "assertion": both} if negate else both


def _contains_json(value: Any, _: Fields, negate: bool) -> Fields:
    if value is not None and not isinstance(value, dict):
        raise UntranslatableError("its schema is not written as a mapping")
    return {"type": "text", "contains_json": True if value is None else value, **({"negate": True} if negate else {})}


def _word_count(value: Any, _: Fields, negate: bool) -> Fields:
    if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value):
        value = int(value)
    if isinstance(value, int):
        words: Fields = {"min": value, "max": value}
    elif isinstance(value, dict) and set(value) <= {"min", "max"} and value:
        words = dict(value)
    else:
        raise UntranslatableError("its value must be a number, or min and max")
    return {"type": "text", "words": words, **({"negate": True} if negate else {})}


def _levenshtein(value: Any, assertion: Fields, negate: bool) -> Fields:
    limit = int(_number(assertion.get("threshold", _DEFAULT_DISTANCE)))
    distance = {"expected": _as_text(value), "max": limit}
    return {"type": "text", "edit_distance": distance, **({"negate": True} if negate else {})}


def _cost(_: Any, assertion: Fields, negate: bool) -> Fields:
    if negate:
        raise UntranslatableError("a lower limit of the cost has no counterpart")
    return {"type": "cost_limit", "max_usd": _number(assertion.get("threshold"))}


def _latency(_: Any, assertion: Fields, negate: bool) -> Fields:
    if negate:
        raise UntranslatableError("a lower limit of the latency has no counterpart")
    return {"type": "latency_limit", "max_seconds": _number(assertion.get("threshold")) / 1000}


def _expression(language: str) -> _Translator:
    """Return a translator for a condition of one line; longer code, and code in a file, has no counterpart."""

    def translator(value: Any, _: Fields, negate: bool) -> Fields:
        fields = translate_expression(_as_text(value), language)
        if fields is None:
            raise UntranslatableError("code is not imported, only a simple condition on the output in one line")
        return {"type": "not", "assertion": fields} if negate else fields

    return translator


def _finish_reason(value: Any, _: Fields, negate: bool) -> Fields:
    if not isinstance(value, str) or value not in _FINISH_REASONS:
        raise UntranslatableError(f"only {', '.join(_FINISH_REASONS)} have a counterpart")
    path = "trace[?type=='model'] | [-1].data.stop"
    return {"type": "jmespath", "path": path, "operator": "ne" if negate else "eq", "value": _FINISH_REASONS[value]}


_TRANSLATORS: Mapping[str, _Translator] = {
    "equals": _equals,
    "contains": _contains,
    "icontains": _ignoring_case,
    "contains-all": _text(contains_all=None),
    "contains-any": _text(contains_any=None),
    "icontains-all": _text(contains_all=None, ignore_case=True),
    "icontains-any": _text(contains_any=None, ignore_case=True),
    "starts-with": _text(starts_with=None),
    "regex": _regex,
    "is-json": _is_json_text,
    "contains-json": _contains_json,
    "word-count": _word_count,
    "levenshtein": _levenshtein,
    "cost": _cost,
    "latency": _latency,
    "finish-reason": _finish_reason,
    "javascript": _expression("javascript"),
    "python": _expression("python"),
}
_WITH_THRESHOLD = ("levenshtein", "cost", "latency")

_FACTUALITY = (
    "The final output and this reference agree in their facts. It may leave out details, or add some that do not "
    "contradict the reference. Reference: {value}"
)
_JUDGED: Mapping[str, str] = {
    "llm-rubric": "{value}",
    "model-graded-closedqa": "The final output meets this criterion: {value}",
    "g-eval": "{value}",
    "factuality": _FACTUALITY,
    "model-graded-factuality": _FACTUALITY,
    "answer-relevance": "The final output answers what the user asked, and does not talk about something else.",
}
"""The rubric for the judge."""


def _llm_judge(name: str, value: Any, assertion: Fields, negate: bool) -> Fields:
    if "threshold" in assertion:
        raise UntranslatableError("a judge passes or fails; its threshold has no counterpart")
    criteria = value if isinstance(value, list) else [value]
    if name != "answer-relevance" and not all(isinstance(item, str) and item.strip() for item in criteria):
        raise UntranslatableError("its value must be a text")
    text = "\n".join(map(str, criteria))
    rubric = _JUDGED[name].replace("{value}", text)
    if negate:
        rubric = f"The opposite of the following holds: {rubric}"
    fields: Fields = {"type": "llm_judge", "rubric": rubric}
    if assertion.get("provider") is not None:
        model = judge_name(assertion["provider"])
        if model is None:
            raise UntranslatableError("its grader is neither a model of OpenAI nor of Anthropic")
        fields["model"] = model
    return fields


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        raise UntranslatableError("its threshold must be a number")
    return value


def _as_text(value: Any) -> str:
    if isinstance(value, dict | list) or value is None:
        raise UntranslatableError("its value must be a text")
    return value if isinstance(value, str) else json.dumps(value)


# --- The column __expected of a CSV file


_EXPECTED = re.compile(
    r"(?P<type>(?:(?:not-)?(?:similar|trajectory):)?[a-z][a-z-]*)(?:\((?P<threshold>[0-9]+(?:\.[0-9]+)?)\))?(?::(?P<value>[\s\S]*))?"
)
_EXPECTED_NAMES = {"grade": "llm-rubric", "fn": "javascript", "eval": "javascript"}
"""Names of types that only this column has."""


def expected_assertion(text: str) -> Fields:
    """Return the assertion of a cell such as `icontains: refund`; a text without a type must be equal."""
    match = _EXPECTED.fullmatch(text.strip())
    if match is None:
        return {"type": "equals", "value": text}
    name = _EXPECTED_NAMES.get(match["type"], match["type"])
    base = name.removeprefix(_NEGATED)
    if base not in {*_TRANSLATORS, *_JUDGED} and not _WITHOUT_COUNTERPART.fullmatch(base):
        return {"type": "equals", "value": text}
    fields: Fields = {"type": name, "value": None if match["value"] is None else match["value"].strip()}
    if match["threshold"]:
        fields["threshold"] = float(match["threshold"])
    if name in ("cost", "latency") and (value := fields.pop("value")):
        fields["threshold"] = float(value)
    return fields


_WITHOUT_COUNTERPART = re.compile(
    r"agent-rubric|bleu|classifier|contains-(?:html|sql|xml)|context-(?:faithfulness|recall|relevance)|"
    r"conversation-relevance|gleu|guardrails|human|is-(?:html|refusal|sql|xml)|is-valid-[a-z-]+-call|max-score|meteor|"
    r"moderation|perplexity(?:-score)?|pi|rouge-n|ruby|search-rubric|select-best|similar(?::[a-z]+)?|skill-used|"
    r"trace-[a-z-]+|trajectory:[a-z-]+|webhook"
)
"""Types of promptfoo that are no text to compare with. They are left out, with a note."""
