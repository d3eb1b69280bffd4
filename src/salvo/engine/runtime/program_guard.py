"""Ends the programs of a process that was killed.

`subprocesses.py` starts this file as a process of its own. Standard input names process groups, one per line: `+123`
was started, `-123` has ended. It ends when the other process does, also by `kill -9`; the groups that are left then are
killed. Only the standard library is imported, so that it starts fast.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress


def left_groups(lines: Iterable[str]) -> set[int]:
    """Return the groups that were started and have not ended, when there are no more lines."""
    groups: set[int] = set()
    for line in lines:
        group = int(line[1:])
        if line.startswith("+"):
            groups.add(group)
        else:
            groups.discard(group)
    return groups


def main() -> None:
    for group in left_groups(sys.stdin):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
