"""The scenarios of one pytest run: collecting them, running them, and what they report.

PYTEST_DONT_REWRITE: it has no assertions.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Generator, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from salvo.engine.runtime import event_loop
from salvo.engine.text.messages import display_path
from salvo.engine.text.unicode_escape import printable
from salvo.errors import SalvoError
from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.labels.lookup import required_evidence
from salvo.scenarios.overrides import ScenarioOverrides
from salvo.scenarios.plan import RunSettings, plan_runs
from salvo.scenarios.report import labels, terminal
from salvo.scenarios.report.junit import suite_properties
from salvo.scenarios.result import AgentRunResult
from salvo.scenarios.run.runner import Runner, ScenarioRuns
from salvo.scenarios.spec.project import Project, is_scenario
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.store.location import STORE_VARIABLE
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.workspace import Workspace, suite_name

if TYPE_CHECKING:
    from _pytest.outcomes import Failed
else:
    Failed = pytest.fail.Exception  # its public name, which type checkers do not accept as a class

_SUFFIXES = (".yaml", ".yml")
_MAX_SHOWN = 3
"""Failed runs that are shown in full; `salvo report` has all of them."""
_NOT_IN_A_MARKER = re.compile(r"[^\w.+/-]")


class NotJudgedError(Failed):
    """Something other than the agent is at fault: an error of the test, not a failure."""

    __module__ = "builtins"  # pytest shows it by its bare name, as its own


class ScenarioResult:
    """The result of all runs of a scenario. As text it is the table and the failed runs."""

    def __init__(self, summary: BatchSummary, store: RunStore) -> None:
        self.summary = summary
        self._store = store

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"

    @property
    def verdict(self) -> str:
        return self.summary.verdict.value

    @property
    def pass_rate(self) -> float | None:
        """The pass rate of the completed runs; None if there are none."""
        return self.summary.pass_rate

    @property
    def batch_id(self) -> str:
        return self.summary.batch_id

    @cached_property
    def runs(self) -> list[AgentRunResult]:
        """All runs as they are stored."""
        return self._store.load_runs(self.batch_id)

    def __str__(self) -> str:
        failed = [self._store.load_run(failure.run_id) for failure in self.summary.failures[:_MAX_SHOWN]]
        parts = [[labels.why(self.summary)], terminal.batch_table(self.summary), *map(terminal.failed_run, failed)]
        return "\n\n".join("\n".join(lines) for lines in parts)

    def __repr__(self) -> str:
        return f"<{self.summary.scenario_id} {terminal.verdict(self.summary)}>"


_SESSION = pytest.StashKey["ScenarioSession"]()


def scenario_session(config: pytest.Config) -> ScenarioSession:
    """Return what the scenarios of one pytest run share. It is registered as a plugin when it is first needed."""
    if _SESSION not in config.stash:
        config.stash[_SESSION] = ScenarioSession(config)
        config.pluginmanager.register(config.stash[_SESSION])
    return config.stash[_SESSION]


class ScenarioSession:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._interrupted = ""

    def collector(self) -> ScenarioCollector:
        return ScenarioCollector(self)

    @cached_property
    def workspace(self) -> Workspace:
        allow_env = frozenset(self._config.getoption("salvo_allow_env"))
        return Workspace(
            Project.find(self._config.invocation_params.dir, store_address=self._store_address), allow_env=allow_env
        )

    @property
    def _store_address(self) -> str | None:
        return self._config.getoption("salvo_store") or os.environ.get(STORE_VARIABLE) or None

    @cached_property
    def settings(self) -> ScenarioOverrides:
        return ScenarioOverrides(runs=self._config.getoption("salvo_runs"), model=self._config.getoption("salvo_model"))

    @cached_property
    def _command(self) -> str:
        """The id that all batches of this pytest run share. The workers of xdist get it from their controller."""
        return getattr(self._config, "workerinput", {}).get("salvo_command") or self.workspace.clock.new_id()

    def run(self, workspace: Workspace, scenario: Scenario, file: Path) -> ScenarioResult:
        """Make all runs of a scenario. Raise NotJudgedError if they cannot even be started."""
        settings = RunSettings(overrides=self.settings, record=self._config.getoption("salvo_record"))
        try:
            [runs] = plan_runs(workspace, [(file, scenario, settings)], self._command)
            runner = workspace.runner(recording=settings.recording)
            outcome = event_loop.run(runner.run([runs]), partial(self._end_lost_runs, runner, runs, file))
        except SalvoError as error:
            raise NotJudgedError(str(error), pytrace=False) from None
        if outcome.interrupted:
            if file.suffix in _SUFFIXES:
                self._interrupted = runs.batch.batch_id
            raise KeyboardInterrupt
        store = workspace.store()
        labels = required_evidence(store, runs.batch)
        return ScenarioResult(summarise(runs.batch, runs.entries, runs.skipped, labels), store)

    def _end_lost_runs(
        self,
        runner: Runner,
        runs: ScenarioRuns,
        file: Path,
        blocker: event_loop.Responsible,
        seconds: float,
        where: str,
    ) -> int:
        """Say why pytest ends: an agent blocks its thread for good."""
        runner.end_lost_runs([runs], blocker, where)
        plugins = self._config.pluginmanager
        if (capture := plugins.get_plugin("capturemanager")) is not None:
            capture.suspend_global_capture(in_=True)
        if (reporter := plugins.get_plugin("terminalreporter")) is not None:  # a worker of xdist has none
            reporter.ensure_newline()
            reporter.write_line(printable(event_loop.describe_lost_loop(seconds, where, "pytest")))
            reporter.write_line("Finished runs are saved.")
            if file.suffix in _SUFFIXES:
                reporter.write_line(f"Make the others with:\n  salvo run --resume {runs.batch.batch_id}")
        return pytest.ExitCode.INTERRUPTED

    def run_fields(self, fields: Mapping[str, Any], file: Path) -> ScenarioResult:
        __tracebackhide__ = True
        _refuse_inside_a_loop()
        try:
            workspace, scenario = self.workspace.with_python_scenario(fields, file, self.settings)
        except SalvoError as error:
            raise NotJudgedError(str(error), pytrace=False) from None
        return _require_verdict(self.run(workspace, scenario, file))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "call" and call.excinfo is not None and isinstance(call.excinfo.value, NotJudgedError):
            # pytest reports a failure in this phase as an error, in JUnit and elsewhere.
            report.when = "setup"
            # A test that expects a failure (xfail) has not seen one.
            report.outcome = "failed"
            vars(report).pop("wasxfail", None)
        return report

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._interrupted:
            terminalreporter.section("salvo")
            terminalreporter.line("Interrupted. Finished runs are saved. Make the others with:")
            terminalreporter.line(f"  salvo run --resume {self._interrupted}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hook of xdist: pass the id to each worker."""
        node.workerinput["salvo_command"] = self._command


def _require_verdict(result: ScenarioResult) -> ScenarioResult:
    """Return the result. Raise NotJudgedError if runs could not be judged and the agent did not fail."""
    __tracebackhide__ = True
    if result.verdict not in ("passed", "failed") or (result.passed and result.summary.errors):
        raise NotJudgedError(str(result), pytrace=False)
    return result


def _refuse_inside_a_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise NotJudgedError(
        "salvo_scenario runs its own event loop, and this test is already inside one. Write the test with `def` "
        "instead of `async def`; the agent and its tools may be async.",
        pytrace=False,
    )


class ScenarioCollector:
    """Collects scenario files; registered with --salvo only."""

    def __init__(self, session: ScenarioSession) -> None:
        self._session = session
        self._names: dict[str, Path] = {}
        self._tags: set[str] = set()

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
        is_named = file_path.suffix in _SUFFIXES and parent.session.isinitpath(file_path)
        if not is_named and not is_scenario(file_path):
            return None
        return ScenarioFile.from_parent(parent, path=file_path, collector=self)

    def read(self, file: ScenarioFile) -> Iterator[ScenarioItem]:
        """Yield an item for each scenario of a file: one for each cell if it has cases or a matrix."""
        workspace = self._session.workspace
        try:
            scenarios = workspace.read_file(file.path, self._session.settings)
            # All of them first: their keys must be known before anything is redacted.
            for scenario in scenarios:
                workspace.register(scenario)
        except SalvoError as error:
            raise pytest.Collector.CollectError(str(error)) from None
        name = suite_name(scenarios[0])
        first = self._names.setdefault(name, file.path)
        if first != file.path:
            raise pytest.Collector.CollectError(f'"{name}" is also the name of {display_path(first)}.')
        for scenario in scenarios:
            item = ScenarioItem.from_parent(
                file,
                name=scenario.scenario,
                # As a text, from which pytest reads the parameters in brackets, as it does for --lf.
                nodeid=f"{file.nodeid}::{scenario.scenario}",
                scenario_session=self._session,
                scenario=scenario,
            )
            for marker in self._markers(scenario.tags, file.config):
                item.add_marker(marker)
            yield item

    def _markers(self, tags: list[str], config: pytest.Config) -> Iterator[str]:
        """Yield `salvo` and the tags. They are registered first, because pytest may refuse unknown markers."""
        yield "salvo"
        for tag in tags:
            if marker := _NOT_IN_A_MARKER.sub("_", tag).lstrip("_"):
                if marker not in self._tags:
                    self._tags.add(marker)
                    config.addinivalue_line("markers", f"{marker}: a tag of scenarios.")
                yield marker


class ScenarioFile(pytest.File):
    def __init__(self, *, collector: ScenarioCollector, **options: Any) -> None:
        super().__init__(**options)
        self._collector = collector

    def collect(self) -> Iterator[ScenarioItem]:
        yield from self._collector.read(self)


class ScenarioItem(pytest.Item):
    """One scenario with all its runs."""

    def __init__(self, *, scenario_session: ScenarioSession, scenario: Scenario, **options: Any) -> None:
        super().__init__(**options)
        self._scenario_session = scenario_session
        self._scenario = scenario

    def runtest(self) -> None:
        result = self._scenario_session.run(self._scenario_session.workspace, self._scenario, self.path)
        self.user_properties += [("batch", result.batch_id), *suite_properties(result.summary).items()]
        if not _require_verdict(result).passed:
            pytest.fail(str(result), pytrace=False)
        self.add_report_section("call", "salvo", str(result))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name
