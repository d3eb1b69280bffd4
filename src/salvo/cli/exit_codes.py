"""The exit codes of both commands. Scripts and CI rely on them, so their meaning never changes."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    OK = 0
    """Everything holds."""
    FAILED = 1
    """What is under test failed."""
    USAGE = 2
    """The command, a file or a value is wrong; nothing was judged."""
    NOT_JUDGED = 3
    """Something could not be judged because of a provider, a judge or this program, not because of what is tested."""
    INCONCLUSIVE = 4
    """The runs cannot show whether the pass rate holds; only with --confidence or `labels`."""
    NOTHING = 5
    """There was nothing to do or to show."""
    INTERRUPTED = 130
    """Ended by Ctrl-C or SIGTERM; what had finished is saved."""
