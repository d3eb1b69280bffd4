"""Translate the one-line conditions of promptfoo's `javascript` and `python` assertions. No code is run.

Only conditions whose meaning is certain are translated: what the output contains, begins or ends with, equals, and how
long it is, joined by "and" or by "or".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from salvo.records import record

Fields: TypeAlias = dict[str, Any]

_TEXT = "final_text"
_STRING = r"""(?P<quote>['"])(?P<text>(?:(?!(?P=quote))[^\\\n{}])*)(?P=quote)"""
_COMPARISON = r"(?P<operator><=|>=|<|>)\s*(?P<number>[0-9]{1,9})"
_OPERATORS = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}


@record
class _CodeSyntax:
    both: str
    either: str
    negation: str
    contains: str
    begins: str
    ends: str
    equals: str
    length: str

    @property
    def calls(self) -> tuple[str, ...]:
        return self.contains, self.begins, self.ends


_JAVASCRIPT = _CodeSyntax(
    both="&&",
    either="||",
    negation=r"!\s*",
    contains=rf"output(?P<lower>\.toLowerCase\(\))?\.includes\(\s*{_STRING}\s*\)",
    begins=rf"output\.startsWith\(\s*{_STRING}\s*\)",
    ends=rf"output\.endsWith\(\s*{_STRING}\s*\)",
    equals=rf"output\s*(?P<sign>===?|!==?)\s*{_STRING}",
    length=rf"output\.length\s*{_COMPARISON}",
)
_PYTHON = _CodeSyntax(
    both=" and ",
    either=" or ",
    negation=r"not\s+",
    contains=rf"{_STRING}\s+(?P<absent>not\s+)?in\s+output(?P<lower>\.lower\(\))?",
    begins=rf"output\.startswith\(\s*{_STRING}\s*\)",
    ends=rf"output\.endswith\(\s*{_STRING}\s*\)",
    equals=rf"output\s*(?P<sign>==|!=)\s*{_STRING}",
    length=rf"len\(\s*output\s*\)\s*{_COMPARISON}",
)
LANGUAGES: Mapping[str, _CodeSyntax] = {"javascript": _JAVASCRIPT, "python": _PYTHON}


def translate_expression(code: str, language: str) -> Fields | None:
    """Return the assertion for a condition; None if its meaning is not certain."""
    syntax = LANGUAGES[language]
    code = code.strip().removeprefix("return ").rstrip("; \n")
    if (condition := _condition(code, syntax)) is not None:
        return condition
    for separator, kind in ((syntax.both, "all_of"), (syntax.either, "any_of")):
        parts = code.split(separator)
        if len(parts) > 1:
            # With both kinds of words, or one of them inside a text, some part is no condition.
            return _joined([_condition(part.strip(), syntax) for part in parts], kind)
    return None


def _joined(parts: Sequence[Fields | None], kind: str) -> Fields | None:
    expressions = [part for part in parts if part is not None]
    return {"type": kind, "assertions": expressions} if len(expressions) == len(parts) else None


def _condition(code: str, syntax: _CodeSyntax) -> Fields | None:
    negated = re.fullmatch(rf"{syntax.negation}(?:\((?P<inner>.+)\)|(?P<call>.+))", code)
    if negated is None:
        return _plain_condition(code, syntax)
    # `!output == "x"` negates the output alone, in JavaScript.
    is_call = any(re.fullmatch(pattern, negated["call"] or "") for pattern in syntax.calls)
    inner = negated["inner"] or (negated["call"] if is_call or syntax is _PYTHON else "")
    condition = _plain_condition(inner.strip(), syntax)
    return None if condition is None else {"type": "not", "assertion": condition}


def _plain_condition(code: str, syntax: _CodeSyntax) -> Fields | None:
    if match := re.fullmatch(syntax.contains, code):
        text = match["text"]
        if match["lower"]:
            # Only the output is in lower case, so a text with a capital is never found.
            return {"type": "text", "contains_all": [text], "ignore_case": True} if text == text.lower() else None
        contains = _compare("contains", text)
        return {"type": "not", "assertion": contains} if match.groupdict().get("absent") else contains
    if match := re.fullmatch(syntax.begins, code):
        return {"type": "text", "starts_with": match["text"]}
    if match := re.fullmatch(syntax.ends, code):
        return _compare("regex", rf"{re.escape(match['text'])}\Z")
    if match := re.fullmatch(syntax.equals, code):
        return _compare("ne" if match["sign"].startswith("!") else "eq", match["text"])
    if match := re.fullmatch(syntax.length, code):
        fields = _compare(_OPERATORS[match["operator"]], int(match["number"]))
        return {**fields, "path": f"length({_TEXT} || '')"}
    return None


def _compare(operator: str, value: Any) -> Fields:
    return {"type": "jmespath", "path": _TEXT, "operator": operator, "value": value}
