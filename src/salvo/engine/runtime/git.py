"""Ask git about a repository without starting a program that the settings of the repository name.

A repository may come from someone else. Its settings can name programs: to verify signatures, to compare and convert
files, to watch the folder, to fetch objects. None of them is started, and no object is taken for another.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

SECONDS = 60
_STATE_SECONDS = 10
_MOST_FILTERS = 100
_REPOSITORY_VARIABLES = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"})
_NO_CODE_OF_REPOSITORY = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1"}
_SETTINGS = {"core.quotePath": "false", "core.fsmonitor": "false"}
_STATE_SETTINGS = {"core.hooksPath": os.devnull, "status.submoduleSummary": "false"}
_STATUS = ("status", "--porcelain=v2", "--branch", "--untracked-files=no", "--ignore-submodules=all", "-z")


class GitState(NamedTuple):
    commit: str | None
    """None in a repository without a commit."""
    dirty: bool | None
    """Whether tracked files differ from the commit; None if only a program of the repository could tell."""


def run_git(
    folder: Path, *arguments: str, settings: Mapping[str, str] | None = None, seconds: float = SECONDS
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder. The repository is the one that the folder is in, whatever GIT_DIR says.

    Raises FileNotFoundError without git or the folder, and TimeoutExpired.
    """
    environ = {name: value for name, value in os.environ.items() if name not in _REPOSITORY_VARIABLES}
    environ |= _NO_CODE_OF_REPOSITORY
    # As variables and not as `-c name=value`, because a name may contain an equals sign.
    configured = environ.get("GIT_CONFIG_COUNT", "")
    count = int(configured) if configured.isascii() and configured.isdecimal() else 0
    for number, (name, value) in enumerate({**_SETTINGS, **(settings or {})}.items(), count):
        environ |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        environ["GIT_CONFIG_COUNT"] = str(number + 1)
    return subprocess.run(  # noqa: S603 - git, without a shell
        ["git", "-C", str(folder.absolute()), *arguments],  # noqa: S607 - the user's git
        capture_output=True,
        env=environ,
        timeout=seconds,
        check=False,
    )


def read_state(folder: Path) -> GitState | None:
    """Return the commit that is checked out, and whether tracked files were changed; None outside of a repository.

    It is also None if git is not installed, does not trust the repository, or takes long.
    """
    if not any((parent / ".git").exists() for parent in (folder, *folder.parents)):
        return None
    try:
        filters = _own_filters(folder)
        settings = {**_STATE_SETTINGS, **{name: value for driver in filters for name, value in _disabled(driver)}}
        status = run_git(folder, "--no-optional-locks", *_STATUS, settings=settings, seconds=_STATE_SECONDS)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if status.returncode:
        return None
    entries = [entry for entry in status.stdout.decode(errors="replace").split("\0") if entry]
    oid = next((entry.removeprefix("# branch.oid ") for entry in entries if entry.startswith("# branch.oid ")), "")
    is_changed = any(not entry.startswith("# ") for entry in entries)
    # Without its filter, a file that was only touched looks changed.
    dirty = None if is_changed and filters else is_changed
    return GitState(oid if oid and oid.isalnum() else None, dirty)


def commit_time(folder: Path, commit: str) -> int | None:
    """Return when a commit was made, in seconds since 1970; None if git does not say."""
    try:
        output = run_git(folder, "cat-file", "commit", commit, seconds=_STATE_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(rb"^committer .*> (\d{1,12}) [+-]\d{4}$", output.stdout, re.MULTILINE)
    return int(match[1]) if match else None


def _own_filters(folder: Path) -> list[str]:
    """Return the filter drivers that the settings of the repository define. Those of the user are the user's own."""
    output = run_git(
        folder, "config", "--null", "--show-scope", "--name-only", "--get-regexp", r"^filter\.", seconds=_STATE_SECONDS
    )
    fields = output.stdout.decode(errors="surrogateescape").split("\0")
    drivers = {
        name.partition(".")[2].rpartition(".")[0]
        for scope, name in zip(fields[::2], fields[1::2], strict=False)
        if scope in ("local", "worktree")
    }
    if output.returncode not in (0, 1) or len(drivers) > _MOST_FILTERS:
        raise ValueError("the filters of the repository cannot be listed")
    return sorted(drivers)


def _disabled(driver: str) -> list[tuple[str, str]]:
    values = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return [(f"filter.{driver}.{name}", value) for name, value in values.items()]
