"""What a command's exit code means. Scripts and CI rely on these; they never change their meaning."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    OK = 0
    """Everything that was asked for holds."""
    FAILED = 1
    """Something under test failed."""
    USAGE = 2
    """The command, a file or a value is wrong; nothing was judged."""
    NOT_JUDGED = 3
    """Something could not be judged: a provider, a judge or this program is at fault, not what is under test."""
    INCONCLUSIVE = 4
    """The runs cannot show whether the pass rate holds; only with --confidence."""
    NOTHING = 5
    """There was nothing to do or to show."""
    INTERRUPTED = 130
    """Ended by Ctrl-C; what had finished is saved."""
