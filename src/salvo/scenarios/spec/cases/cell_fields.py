"""The fields of a cell: which of them name code or variables, what is private, and how one is set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.scenarios.spec.env_variables.mcp_variables import SERVERS, variable_fields
from salvo.scenarios.spec.env_variables.variables import find_variables
from salvo.scenarios.spec.judge_server import document_judge_servers, user_server

_FEWEST_LETTERS = 2
_FEWEST_DIGITS = 5
"""A shorter private value is refused, because it would be replaced in settings and in numbers of all kinds."""
_OPTIONS = "adapter_options"


def is_too_short(text: str) -> bool:
    """Return whether a private value would occur in harmless places: a number of few digits, or a single letter."""
    has_letter = any(character.isalpha() for character in text)
    return 0 < len(text.strip()) < (_FEWEST_LETTERS if has_letter else _FEWEST_DIGITS)


def leaf_texts(value: Any) -> Iterator[str]:
    """Yield each text, and each number as text. True, false and null say nothing about a person."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaf_texts(part)
    elif isinstance(value, str):
        yield value
    elif value is not None and not isinstance(value, bool):
        yield json_codec.dumps(value).decode()


def variable_names(data: Mapping[str, Any]) -> list[str]:
    """Return the environment variables in the adapter's options, the servers of judges and the MCP servers."""
    servers = [use.fields for use in document_judge_servers(data)]
    user = user_server(data)
    servers += [] if user is None else [user.fields]
    return [use.name for use in find_variables([data.get(_OPTIONS), servers, variable_fields(data.get(SERVERS))])]


def names_code(path: FieldPath) -> bool:
    """Return whether the text at this path of a scenario decides which code runs."""
    match path:
        case ("adapter" | "scenario", *_) | ("adapter_options", "command") | ("adapter_options", "command", 0):
            return True
        case ("assertions", int(), "type" | "function") | ("assertion", "type" | "function"):
            return True
        case ("assertions", int(), "assertions" | "assertion", *_):
            return names_code(path[2:])  # inside another assertion
        case ("assertion", "assertions" | "assertion", *_):
            return names_code(path[1:])
        case ("turns", int(), "assertions", *_):
            return names_code(path[2:])
        case ("user", "python") | ("tools", _) | ("mcp_servers", _, "command") | ("mcp_servers", _, "command", 0):
            return True
        case ("adapter_options", "env", str(name)) | ("mcp_servers", _, "env", str(name)):
            return _LOADER_VARIABLE.fullmatch(name) is not None
    return False


_LOADER_VARIABLE = re.compile(r"PATH|SHELL|ENV|BASH_ENV|CLASSPATH|(?:LD|DYLD|PYTHON|NODE|JAVA|PERL|RUBY)_?\w*")
"""Variables that decide which program, library or module is loaded."""


def names_variable(path: FieldPath) -> bool:
    """Return whether the text at this path is the name of an environment variable that a program gets."""
    return path[:2] == ("adapter_options", "pass_env") or (path[:1] == ("mcp_servers",) and "pass_env" in path[2:3])


def contains(data: Any, path: FieldPath) -> bool:
    for step in path:
        if not isinstance(data, dict) or step not in data:
            return False
        data = data[step]
    return True


def set_at(data: dict[str, Any], path: FieldPath, value: Any) -> None:
    """Set the value at a path of names. What is changed on the way is copied."""
    *parents, last = map(str, path)
    for name in parents:
        inner = data.get(name)
        data[name] = dict(inner) if isinstance(inner, dict) else {}
        data = data[name]
    data[last] = value


def is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
