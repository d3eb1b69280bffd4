"""The environment of a program that a scenario names, and whether there is such a program."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

_BASE = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "VIRTUAL_ENV",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA",
    "LOCALAPPDATA",
})  # fmt: skip
"""The variables that every program gets, besides LC_*. It gets others only by name."""


def passed_variables(environ: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Return the variables of our environment that a program gets: those that every program needs, and these names."""
    return {name: value for name, value in environ.items() if name in _BASE or name.startswith("LC_") or name in names}


def program_error(words: Sequence[str], folder: Path, path: str | None) -> str:
    """Return what is wrong with the first word of a command; empty if it is a program that can be started."""
    program = str(folder / words[0]) if "/" in words[0] else words[0]
    return "" if shutil.which(program, path=path) else f"there is no executable program {words[0]}"
