"""Which parts of a request count when it is matched to a recorded one. Pure.

What does not reach the model is ignored: a program may send another value each time, and the reply is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from salvo.engine.wire.base import WireRequest

VERSION = 1
"""Of the rules below. A tape names the version by which the keys of its requests were computed; 0 ignores nothing."""

IGNORED_FIELDS = ("metadata", "user", "safety_identifier", "prompt_cache_key")
"""Fields of a request to a model that do not reach it."""

COMPARED_HEADERS = ("anthropic-beta", "anthropic-version", "openai-beta")
"""The headers that change what a model does. Others are not compared: trace ids, idempotency keys, client versions."""

_MODEL_PATH = re.compile(r"/(?:chat/completions|completions|embeddings|responses|messages)(?:/\w+)?$")
_STEP = re.compile(r"(?:^|\.)(\*|[^.\[\]*]+)|\[(\d+|\*)\]")
_BOUNDARY = re.compile(r'boundary="?([^";,\s]+)')
_HEADER, _QUERY = "header:", "query:"

_Steps: TypeAlias = tuple[str | int, ...]
_ANY: Final = "*"


def ignore_rule_error(rule: str) -> str:
    """Return what is wrong with a rule of a scenario; empty where nothing is."""
    for prefix in (_HEADER, _QUERY):
        if rule.startswith(prefix):
            return "" if re.fullmatch(r"[\w.~-]+", rule.removeprefix(prefix)) else f"must have a name after {prefix}"
    return "" if _steps(rule) else "must be a path such as metadata.id or messages[*].id, or header:NAME, or query:NAME"


class Matching:
    """Returns the parts of requests that count. `ignored` are the rules of a scenario."""

    def __init__(self, version: int, ignored: Iterable[str] = ()) -> None:
        rules = list(ignored)
        self.version = version
        self._paths = [_steps(rule) for rule in rules if not rule.startswith((_HEADER, _QUERY))]
        self._headers = {rule.removeprefix(_HEADER).lower() for rule in rules if rule.startswith(_HEADER)}
        self._query = {rule.removeprefix(_QUERY) for rule in rules if rule.startswith(_QUERY)}

    def path(self, path: str) -> str:
        """Return the path without the query parameters that are ignored."""
        bare_path, mark, query = path.partition("?")
        if not mark or not self._query:
            return path
        parameters = [item for item in query.split("&") if item.partition("=")[0] not in self._query]
        return f"{bare_path}?{'&'.join(parameters)}" if parameters else bare_path

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers that count."""
        if not self.version:
            return {}
        lower = ((name.lower(), value) for name, value in headers.items())
        return {name: value for name, value in sorted(lower) if name in COMPARED_HEADERS and name not in self._headers}

    def body(self, path: str, body: Any) -> Any:
        """Return the body without what is ignored; the same object where there is nothing to ignore."""
        if self.version and isinstance(body, dict) and _MODEL_PATH.search(path.partition("?")[0]):
            body = _without_fields(body)
        for steps in self._paths:
            body = _without(body, steps)
        return body

    def counts(self, request: WireRequest) -> tuple[str, dict[str, str], Any]:
        """Return the path, the headers and the body of a request, as far as they count."""
        body = self.body(request.path, request.body)
        if isinstance(body, bytes):
            body = _without_boundary(body, request.headers)
        return self.path(request.path), self.headers(request.headers), body


def _without_boundary(body: bytes, headers: Mapping[str, str]) -> bytes:
    """Return an upload with a fixed text in place of the boundary between its parts, which is random."""
    content_type = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
    match = _BOUNDARY.search(content_type)
    return body.replace(match[1].encode(), b"boundary") if match else body


def _without_fields(body: dict[str, Any]) -> dict[str, Any]:
    if not any(name in body for name in IGNORED_FIELDS):
        return body
    return {name: value for name, value in body.items() if name not in IGNORED_FIELDS}


def _steps(rule: str) -> _Steps:
    """Return the steps of a path, such as messages[*].id; none where it is not a path."""
    text = rule.removeprefix("$.").removeprefix("$")
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            return ()
        name, index = match.groups()
        steps.append(name or (index if index == _ANY else int(index)))
        position = match.end()
    return tuple(steps)


def _without(value: Any, steps: _Steps) -> Any:
    """Return a JSON value without what a path leads to; the same object where it leads nowhere."""
    step, *rest = steps
    if isinstance(value, dict):
        keys: list[Any] = list(value) if step == _ANY else [step] if step in value else []
        items: dict[Any, Any] | list[Any] = dict(value)
    elif isinstance(value, list):
        keys = list(range(len(value))) if step == _ANY else [step] if step in range(len(value)) else []
        items = list(value)
    else:
        return value
    if not keys:
        return value
    for key in reversed(keys):  # from the end, so that the places of a list stay right
        if rest:
            items[key] = _without(items[key], tuple(rest))
        else:
            del items[key]
    return items
