"""A pytest plugin, named with `-p`: measures the tests, prints what none of them reached, and fails below the limit.

It has to be named on the command line, as it must be loaded before anything imports the package.
"""

import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from slipcover import print_coverage

from tests.support.coverage.probes import RESULTS, SETTINGS, measure, merged, prepare, save

_TOTAL = pytest.StashKey[dict[str, Any]]()

measure("salvo")


def pytest_configure(config: pytest.Config) -> None:
    """Give the workers a folder for their results, and modules that have their probes already."""
    if not hasattr(config, "workerinput"):
        prepare()
        os.environ[RESULTS] = tempfile.mkdtemp(prefix="coverage-")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Save what a worker has reached; in the process that started the workers, merge it and fail below the limit."""
    if hasattr(session.config, "workerinput"):
        save()
        return
    folder = Path(os.environ.pop(RESULTS))
    total = session.config.stash[_TOTAL] = merged(folder)
    shutil.rmtree(folder)
    if total["summary"]["percent_covered"] < SETTINGS["fail-under"] and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the lines and branches that no test reached."""
    if (total := config.stash.get(_TOTAL, None)) is None:
        return
    table = io.StringIO()
    print_coverage(total, outfile=table, skip_covered=True)
    terminalreporter.section("branch coverage")
    terminalreporter.write_line(table.getvalue())
    percent, limit = total["summary"]["percent_covered"], SETTINGS["fail-under"]
    verdict = "reached" if percent >= limit else "NOT reached"
    terminalreporter.write_line(f"Branch coverage: {percent:.2f} %. The limit of {limit} % is {verdict}.")
