"""Environment variables as ${NAME} in an adapter's options, and nowhere else: a prompt may be about shell scripts.

A scenario keeps the text with the variable. The value is filled in when an adapter gets its options, so that it is in
no scenario, batch file or recording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from salvo.engine.jsonio.pydantic_errors import FieldError, FieldPath

_VARIABLE = re.compile(r"\$(\$?)\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def expand_variables(value: Any, environ: Mapping[str, str]) -> Any:
    """Return the options with the values filled in. A variable that is not set stays as it is."""
    if isinstance(value, dict):
        return {name: expand_variables(part, environ) for name, part in value.items()}
    if isinstance(value, list):
        return [expand_variables(part, environ) for part in value]
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: match[0][1:] if match[1] else environ.get(match[2], match[0]), value)
    return value


def variable_errors(value: Any, path: FieldPath, environ: Mapping[str, str]) -> Iterator[FieldError]:
    """Yield an error for each variable that is not set, never with the value of one."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from variable_errors(part, (*path, name), environ)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from variable_errors(part, (*path, index), environ)
    elif isinstance(value, str):
        for escaped, name in _VARIABLE.findall(value):
            if not escaped and not _NAME.match(name):
                yield FieldError(path, "${...} takes the name of an environment variable; $${...} is left as it is")
            elif not escaped and name not in environ:
                yield FieldError(path, f"the environment variable {name} is not set")
