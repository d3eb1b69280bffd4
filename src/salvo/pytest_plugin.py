"""`pytest --salvo`: scenarios as test items, and a fixture for a scenario in Python.

pytest imports this module in every run of everyone who has Salvo installed. So nothing of Salvo is imported until a
scenario is needed; the rest is in `salvo.pytest_scenarios`. PYTEST_DONT_REWRITE: it has no assertions, and pytest need
not search it for any.
"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from salvo.pytest_scenarios import ScenarioResult, ScenarioSession


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("salvo", "scenarios for AI agents")
    group.addoption("--salvo", action="store_true", help="Collect the scenarios (.yaml) in the given paths.")
    group.addoption("--salvo-runs", type=_count, metavar="N", help="How often to run each scenario.")
    group.addoption("--salvo-model", metavar="MODEL", help="Another model than the scenario's.")
    group.addoption("--salvo-record", action="store_true", help="Record every run, so that it can be replayed.")
    group.addoption(
        "--salvo-store",
        metavar="ADDRESS",
        help="Where runs are stored: a folder, or an object store such as s3://bucket/prefix; else SALVO_STORE, else "
        ".salvo.",
    )
    group.addoption(
        "--salvo-allow-env",
        action="append",
        default=[],
        metavar="NAME",
        help="Let a scenario send this credential of the environment to an address that its file names.",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a number of runs")
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "salvo: a scenario, run as often as it says.")
    if config.getoption("salvo"):
        config.pluginmanager.register(_session(config).collector())


def _session(config: pytest.Config) -> ScenarioSession:
    from salvo.pytest_scenarios import scenario_session  # most runs of pytest have no scenario

    return scenario_session(config)


@pytest.fixture
def salvo_scenario(request: pytest.FixtureRequest) -> Callable[..., ScenarioResult]:
    """Run a scenario in Python: the fields of a scenario file, with functions in place of their names.

    It is stored like every other. What could not be judged is an error of the test, not a failure.
    """

    def run(**fields: Any) -> ScenarioResult:
        __tracebackhide__ = True
        name = re.sub(r"[^A-Za-z0-9_. -]", "_", request.node.name)[:100]
        return _session(request.config).run_fields({"scenario": name, **fields}, request.path)

    return run
