"""Which paths of a provider the gateway forwards: those that ask a model, and those that a scenario allows. Pure.

A program could otherwise read the files, jobs and keys of the account whose key the gateway adds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from salvo.errors import RequestRefusedError

_SEGMENT = re.compile(r"[\w.~:@+,=-]+", re.ASCII)
_VERSION = "/v1"
_ALL = "/*"

_MODEL_PATHS: Mapping[str, frozenset[tuple[str, str]]] = {
    "openai": frozenset({
        ("POST", "/chat/completions"),
        ("POST", "/completions"),
        ("POST", "/embeddings"),
        ("POST", "/moderations"),
        ("POST", "/responses"),
        ("POST", "/responses/input_tokens"),
        ("GET", "/models"),
        ("GET", "/models/*"),
    }),
    "anthropic": frozenset({
        ("POST", "/messages"),
        ("POST", "/messages/count_tokens"),
        ("GET", "/models"),
        ("GET", "/models/*"),
    }),
}  # fmt: skip
"""The paths that every program may use, without the version; a star stands for one or more segments."""


class ForbiddenPathError(RequestRefusedError):
    """The program asks for a path that the gateway does not forward; nothing was sent."""


class PathRules:
    """The paths that the gateway forwards. `allowed` are those of a scenario, for both providers."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed = tuple(map(_without_version, allowed))

    def asks_model(self, provider: str, method: str, path: str) -> bool:
        """Return whether it is one of the paths that every program may use."""
        unversioned = _without_version(path)
        return any(method == verb and _covers(pattern, unversioned) for verb, pattern in _MODEL_PATHS[provider])

    def check(self, provider: str, method: str, path: str) -> None:
        """Raise ForbiddenPathError for a path, without its query, that is not forwarded."""
        if not is_plain(path):
            raise ForbiddenPathError(
                f"The path {path} was not forwarded: each part of it must consist of letters, digits and -._~:@+,= , "
                "and must not be made of dots only, also where it is percent-encoded.",
                status=400,
            )
        if self.asks_model(provider, method, path):
            return
        unversioned = _without_version(path)
        if not any(_covers(pattern, unversioned) for pattern in self._allowed):
            raise ForbiddenPathError(
                f"{method} {path} was not forwarded: it is none of the paths that ask a model.",
                hint=f"If the program may use it with your key, add {path!r} to adapter_options.allow_paths.",
                status=403,
            )


def is_plain(path: str) -> bool:
    """Return whether every server reads the path alike: no dot segments, empty segments or encoded separators."""
    segments = [unquote(segment, errors="replace") for segment in path.split("/")]
    return segments[0] == "" and all(_SEGMENT.fullmatch(segment) and segment.strip(".") for segment in segments[1:])


def path_rule_error(rule: str) -> str:
    """Return what is wrong with a path that a scenario allows; empty where nothing is."""
    if "%" in rule or not is_plain(rule.removesuffix(_ALL) or "/x"):
        return "is not a path such as /files, or a prefix such as /files/*"
    if _without_version(rule) in (_ALL, _VERSION, ""):
        return "would allow every path of the provider; name those that the program needs"
    return ""


def _without_version(path: str) -> str:
    return path.removeprefix(_VERSION) if path.startswith(f"{_VERSION}/") else path


def _covers(rule: str, path: str) -> bool:
    return path.startswith(rule[:-1]) if rule.endswith(_ALL) else path == rule
