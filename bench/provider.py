"""The loopback provider in a process of its own, so that its work is not counted as anybody's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def four_call_provider(latency: float = 0.0) -> Iterator[str]:
    """Serves conversations of three tool turns and a final answer; gives its address."""
    command = [sys.executable, "-m", "tests.support.provider", "--four-call", "--latency", str(latency)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
