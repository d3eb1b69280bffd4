"""The loopback provider in a process of its own, so that its work is not counted as anybody's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager


def four_call_provider(latency: float = 0.0) -> AbstractContextManager[str]:
    """Serves conversations of three tool turns and a final answer; gives its address."""
    return _provider("--four-call", "--latency", str(latency))


def saying(text: str, latency: float = 0.0) -> AbstractContextManager[str]:
    """Answers everything with this text; gives its address."""
    return _provider("--say", text, "--latency", str(latency))


@contextmanager
def _provider(*options: str) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.support.provider", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
