"""${NAME} in an adapter's options, and nowhere else: a prompt may be about shell scripts.

A file is only checked for them. They are filled in when an adapter is given its options, so that what they stand for
is in no scenario, batch file or recording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from salvo.scenarios.spec.yaml_document import Document, SourceProblem, Steps

_FIELD = "adapter_options"
_VARIABLE = re.compile(r"\$(\$?)\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def check(document: Document, environ: Mapping[str, str]) -> None:
    """A variable that is not set is a fault of the document. Values are never told."""
    if isinstance(document.data, dict) and _FIELD in document.data:
        document.faults += _faults(document.data[_FIELD], (_FIELD,), document, environ)


def expand_variables(value: Any, environ: Mapping[str, str]) -> Any:
    """The options with the values in; a variable that is not set is left as it stands."""
    if isinstance(value, dict):
        return {name: expand_variables(part, environ) for name, part in value.items()}
    if isinstance(value, list):
        return [expand_variables(part, environ) for part in value]
    return _VARIABLE.sub(lambda found: _value(found, environ), value) if isinstance(value, str) else value


def _faults(value: Any, steps: Steps, document: Document, environ: Mapping[str, str]) -> Iterator[SourceProblem]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _faults(part, (*steps, name), document, environ)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _faults(part, (*steps, index), document, environ)
    elif isinstance(value, str):
        for message in _unfillable(value, environ):
            yield SourceProblem(steps, document.place(steps), message)


def _unfillable(text: str, environ: Mapping[str, str]) -> Iterator[str]:
    for escaped, name in _VARIABLE.findall(text):
        if escaped:
            continue
        if not _NAME.match(name):
            yield "${...} takes the name of an environment variable; $${...} is left as it stands"
        elif name not in environ:
            yield f"the environment variable {name} is not set"


def _value(found: re.Match[str], environ: Mapping[str, str]) -> str:
    escaped, name = found.groups()
    return found[0][1:] if escaped else environ.get(name, found[0])
