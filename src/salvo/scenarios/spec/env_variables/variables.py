"""Environment variables as ${NAME} in an adapter's options, and nowhere else: a prompt may be about shell scripts.

A scenario keeps the text with the variable. The value is filled in when an adapter gets its options, so that it is in
no scenario, batch file or recording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from salvo.engine.jsonio.pydantic_errors import FieldError, FieldPath, leaves
from salvo.engine.runtime.credentials import has_secret_segment

_VARIABLE = re.compile(r"\$(\$?)\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class VariableUse(NamedTuple):
    """A variable in the text of an option."""

    path: FieldPath
    name: str
    text: str


def expand_variables(value: Any, environ: Mapping[str, str]) -> Any:
    """Return the options with the values filled in. A variable that is not set stays as it is."""
    if isinstance(value, dict):
        return {name: expand_variables(part, environ) for name, part in value.items()}
    if isinstance(value, list):
        return [expand_variables(part, environ) for part in value]
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: match[0][1:] if match[1] else environ.get(match[2], match[0]), value)
    return value


def find_variables(value: Any, path: FieldPath = ()) -> Iterator[VariableUse]:
    """Yield each variable in the options, with the path of the text that contains it."""
    for text_path, text in _texts(value, path):
        for escaped, name in _VARIABLE.findall(text):
            if not escaped:
                yield VariableUse(text_path, name, text)


def variable_errors(value: Any, path: FieldPath, environ: Mapping[str, str]) -> Iterator[FieldError]:
    """Yield an error for each variable that is not set, never with the value of one."""
    for use in find_variables(value, path):
        if not _NAME.match(use.name):
            yield FieldError(use.path, "${...} takes the name of an environment variable; $${...} is left as it is")
        elif use.name not in environ:
            yield FieldError(use.path, f"the environment variable {use.name} is not set")


def option_secrets(options: Any, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield what must not be stored: the values of variables, and every text under a name such as `api_token`."""
    for use in find_variables(options):
        if use.name in environ:
            yield environ[use.name]
    for path, text in _texts(options):
        names = [step for step in path if isinstance(step, str)]
        if names and has_secret_segment(names[-1]) and _VARIABLE.sub("", text):
            yield expand_variables(text, environ)


def _texts(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str]]:
    """Yield each text, and each number as text, with its path."""
    for part_path, part in leaves(value, path):
        if isinstance(part, str):
            yield part_path, part
        elif isinstance(part, int | float) and not isinstance(part, bool):
            yield part_path, str(part)
