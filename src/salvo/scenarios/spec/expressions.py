"""The boolean expressions of `-k` and `-m`: words with `and`, `or`, `not` and parentheses, as in pytest. Pure.

    refund and not (late or "gpt 5")

A word is any text without spaces, quotes and parentheses, so `refund[late-gpt-5.4-mini]` is one. Words without an
operator between them are one text with spaces, as names of scenarios may have them; quotes keep everything as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from salvo.errors import UsageError

Matches: TypeAlias = Callable[[str], bool]
"""Returns whether one word of an expression holds."""
Expression: TypeAlias = Callable[[Matches], bool]

_TOKEN = re.compile(r"""\s*(?:(?P<symbol>[()])|"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<word>[^\s()"']+))""")
_OPERATORS = frozenset({"and", "or", "not"})
_MAX_DEPTH = 50


def parse(text: str, option: str) -> Expression:
    """Return the expression of a command's option; UsageError if it is not one."""
    return _Parser(text, option).parse()


class _Parser:
    def __init__(self, text: str, option: str) -> None:
        self._text = text
        self._option = option
        self._tokens = list(self._tokenize())
        self._next = 0
        self._depth = 0

    def parse(self) -> Expression:
        expression = self._alternatives()
        if self._next < len(self._tokens):
            raise self._error(f"{self._tokens[self._next][1]!r} is not expected there")
        return expression

    def _tokenize(self) -> list[tuple[bool, str]]:
        """Return each token and whether it is an operator or a parenthesis."""
        tokens = []
        position = 0
        end = len(self._text.rstrip())
        while position < end:
            match = _TOKEN.match(self._text, position)
            if match is None:
                raise self._error("a quote is not closed")
            position = match.end()
            content = match[match.lastgroup or 0]
            is_special = match.lastgroup == "symbol" or (match.lastgroup == "word" and content in _OPERATORS)
            tokens.append((is_special, content))
        return tokens

    def _alternatives(self) -> Expression:
        parts = [self._conjunction()]
        while self._accept("or"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else lambda matches: any(part(matches) for part in parts)

    def _conjunction(self) -> Expression:
        parts = [self._negation()]
        while self._accept("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else lambda matches: all(part(matches) for part in parts)

    def _negation(self) -> Expression:
        is_negated = False
        while self._accept("not"):
            is_negated = not is_negated
        part = self._operand()
        return (lambda matches: not part(matches)) if is_negated else part

    def _operand(self) -> Expression:
        if self._accept("("):
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise self._error(f"it is nested deeper than {_MAX_DEPTH} levels")
            inner = self._alternatives()
            if not self._accept(")"):
                raise self._error("a parenthesis is not closed")
            self._depth -= 1
            return inner
        words = []
        while self._next < len(self._tokens) and not self._tokens[self._next][0]:
            words.append(self._tokens[self._next][1])
            self._next += 1
        phrase = " ".join(words)
        if not phrase:
            where = f"before {self._tokens[self._next][1]!r}" if self._next < len(self._tokens) else "at the end"
            raise self._error(f"a word is missing {where}")
        return lambda matches: matches(phrase)

    def _accept(self, special: str) -> bool:
        if self._next < len(self._tokens) and self._tokens[self._next] == (True, special):
            self._next += 1
            return True
        return False

    def _error(self, reason: str) -> UsageError:
        return UsageError(
            f"{self._option} {self._text!r} cannot be read: {reason}.",
            hint="Use words with and, or, not and parentheses; put a word that is none of these in quotes.",
        )
