"""`pytest --salvo`: scenarios as test items, and a fixture for one that is written in Python.

pytest imports this module in every run of everybody who has Salvo installed, so it imports nothing of Salvo until a
scenario is wanted.
"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from _pytest.outcomes import Failed

    from salvo.scenarios.analysis.summary import BatchSummary
    from salvo.scenarios.result import AgentRunResult
    from salvo.scenarios.spec.schema import Scenario
    from salvo.scenarios.store.store import RunStore
    from salvo.scenarios.workspace import ScenarioOverrides, Workspace
else:
    Failed = pytest.fail.Exception  # its public name, which no type checker takes for a class

_SUFFIXES = (".yaml", ".yml")
_SHOWN = 3
"""Failed runs that are told in full: nobody reads more, and `salvo report` has them all."""
_NOT_IN_A_MARKER = re.compile(r"[^\w.+/-]")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("salvo", "scenarios for AI agents")
    group.addoption("--salvo", action="store_true", help="Collect the scenarios (.yaml) in the given paths.")
    group.addoption("--salvo-runs", type=_count, metavar="N", help="How often to run each scenario.")
    group.addoption("--salvo-model", metavar="MODEL", help="Another model than the scenario's.")
    group.addoption("--salvo-record", action="store_true", help="Record every run, so that it can be replayed.")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no number of runs")
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "salvo: a scenario, run as often as it says.")
    if config.getoption("salvo"):
        config.pluginmanager.register(_Collecting(_work(config)))


@pytest.fixture
def salvo_scenario(request: pytest.FixtureRequest) -> Callable[..., ScenarioResult]:
    """Runs a scenario that is written in Python: the fields of a file, in which functions may stand for their names.

    It is stored like every other. What could not be judged is an error of the test, not a failure.
    """

    def run(**fields: Any) -> ScenarioResult:
        __tracebackhide__ = True
        name = re.sub(r"[^A-Za-z0-9_. -]", "_", request.node.name)[:100]
        return _work(request.config).run_written({"scenario": name, **fields}, request.path)

    return run


class NotJudgedError(Failed):
    """A provider, a judge, a file or this program is at fault, and not the agent: an error, and no failure."""

    __module__ = "builtins"  # as pytest's own: it is shown by its bare name


class ScenarioResult:
    """What the runs of a scenario came to: passed, or failed. As text it is the table and the runs that failed."""

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
        """Of the completed runs; None without any."""
        return self.summary.pass_rate

    @property
    def batch_id(self) -> str:
        return self.summary.batch_id

    @cached_property
    def runs(self) -> list[AgentRunResult]:
        """Whole, as they are stored."""
        return self._store.load_runs(self.batch_id)

    def __str__(self) -> str:
        from salvo.scenarios.report import labels, terminal

        failed = [self._store.load_run(failure.run_id) for failure in self.summary.failures[:_SHOWN]]
        parts = [[labels.why(self.summary)], terminal.batch_table(self.summary), *map(terminal.failed_run, failed)]
        return "\n\n".join("\n".join(lines) for lines in parts)

    def __repr__(self) -> str:
        from salvo.scenarios.report import terminal

        return f"<{self.summary.scenario_id} {terminal.verdict(self.summary)}>"


_WORK = pytest.StashKey["_Work"]()


def _work(config: pytest.Config) -> _Work:
    """What the scenarios of one pytest run share. It listens from the moment that somebody wants one."""
    if _WORK not in config.stash:
        config.stash[_WORK] = _Work(config)
        config.pluginmanager.register(config.stash[_WORK])
    return config.stash[_WORK]


class _Work:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._interrupted = ""

    @cached_property
    def workshop(self) -> Workspace:
        from salvo.scenarios.spec.project import Project
        from salvo.scenarios.workspace import Workspace

        return Workspace(Project.find(self._config.invocation_params.dir))

    @cached_property
    def settings(self) -> ScenarioOverrides:
        from salvo.scenarios.workspace import ScenarioOverrides

        return ScenarioOverrides(runs=self._config.getoption("salvo_runs"), model=self._config.getoption("salvo_model"))

    @cached_property
    def _command(self) -> str:
        """What all batches of this run share; the processes of xdist get it from the one that started them."""
        return getattr(self._config, "workerinput", {}).get("salvo_command") or self.workshop.clock.new_id()

    def run(self, workshop: Workspace, scenario: Scenario, file: Path) -> ScenarioResult:
        """All runs of a scenario. NotJudgedError where they could not even be begun."""
        import asyncio

        from salvo.errors import SalvoError
        from salvo.scenarios.analysis.summary import summarise
        from salvo.scenarios.plan import RunSettings, plan_runs

        settings = RunSettings(overrides=self.settings, record=self._config.getoption("salvo_record"))
        try:
            [runs] = plan_runs(workshop, [(file, scenario, settings)], self._command)
            outcome = asyncio.run(workshop.runner(recording=settings.recording).run([runs]))
        except SalvoError as error:
            raise NotJudgedError(str(error), pytrace=False) from None
        if outcome.interrupted:
            if file.suffix in _SUFFIXES:
                self._interrupted = runs.batch.batch_id
            raise KeyboardInterrupt
        return ScenarioResult(summarise(runs.batch, runs.entries, runs.skipped), workshop.store())

    def run_written(self, fields: Mapping[str, Any], file: Path) -> ScenarioResult:
        __tracebackhide__ = True
        from salvo.errors import SalvoError

        _refuse_inside_a_loop()
        try:
            workshop, scenario = self.workshop.with_python_scenario(fields, file, self.settings)
        except SalvoError as fault:
            raise NotJudgedError(str(fault), pytrace=False) from None
        return _judged(self.run(workshop, scenario, file))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "call" and call.excinfo is not None and isinstance(call.excinfo.value, NotJudgedError):
            # What goes wrong in this phase is told as an error by pytest, in JUnit and everywhere else.
            report.when = "setup"
            # And whoever expects the agent to fail has not seen it fail.
            report.outcome = "failed"
            vars(report).pop("wasxfail", None)
        return report

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._interrupted:
            terminalreporter.section("salvo")
            terminalreporter.line("Interrupted. The runs that had finished are saved; the others are made with:")
            terminalreporter.line(f"  salvo run --resume {self._interrupted}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """xdist's: said to each process that it starts."""
        node.workerinput["salvo_command"] = self._command


def _judged(result: ScenarioResult) -> ScenarioResult:
    """The result, where it is one: NotJudgedError where some runs could not be judged, and the agent did not fail."""
    __tracebackhide__ = True
    if result.verdict not in ("passed", "failed") or (result.passed and result.summary.errors):
        raise NotJudgedError(str(result), pytrace=False)
    return result


def _refuse_inside_a_loop() -> None:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise NotJudgedError(
        "salvo_scenario runs an event loop of its own, and this test is inside one. Write the test with `def` instead "
        "of `async def`; the agent and its tools may be async.",
        pytrace=False,
    )


class _Collecting:
    """With --salvo only."""

    def __init__(self, work: _Work) -> None:
        self._work = work
        self._names: dict[str, Path] = {}
        self._tags: set[str] = set()

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
        from salvo.scenarios.spec.project import is_scenario

        named = file_path.suffix in _SUFFIXES and parent.session.isinitpath(file_path)
        if not named and not is_scenario(file_path):
            return None
        return ScenarioFile.from_parent(parent, path=file_path, collecting=self)

    def read(self, file: ScenarioFile) -> ScenarioItem:
        from salvo.engine.text.messages import display_path
        from salvo.errors import SalvoError

        workshop = self._work.workshop
        try:
            scenario = workshop.read(file.path, self._work.settings)
            # Now, for all of them: their keys must be known before anything is redacted.
            workshop.add_endpoint(scenario)
        except SalvoError as fault:
            raise pytest.Collector.CollectError(str(fault)) from None
        first = self._names.setdefault(scenario.scenario, file.path)
        if first != file.path:
            raise pytest.Collector.CollectError(f'"{scenario.scenario}" is also the name of {display_path(first)}.')
        item = ScenarioItem.from_parent(file, name=scenario.scenario, work=self._work, scenario=scenario)
        for marker in self._markers(scenario.tags, file.config):
            item.add_marker(marker)
        return item

    def _markers(self, tags: list[str], config: pytest.Config) -> Iterator[str]:
        """`salvo`, and the tags; made known first, for those who allow no markers that are not."""
        yield "salvo"
        for tag in tags:
            if marker := _NOT_IN_A_MARKER.sub("_", tag).lstrip("_"):
                if marker not in self._tags:
                    self._tags.add(marker)
                    config.addinivalue_line("markers", f"{marker}: a tag of scenarios.")
                yield marker


class ScenarioFile(pytest.File):
    def __init__(self, *, collecting: _Collecting, **of_pytest: Any) -> None:
        super().__init__(**of_pytest)
        self._collecting = collecting

    def collect(self) -> Iterator[ScenarioItem]:
        yield self._collecting.read(self)


class ScenarioItem(pytest.Item):
    """One scenario, with all its runs inside."""

    def __init__(self, *, work: _Work, scenario: Scenario, **of_pytest: Any) -> None:
        super().__init__(**of_pytest)
        self._work = work
        self._scenario = scenario

    def runtest(self) -> None:
        from salvo.scenarios.report.junit import suite_properties

        result = self._work.run(self._work.workshop, self._scenario, self.path)
        self.user_properties += [("batch", result.batch_id), *suite_properties(result.summary).items()]
        if not _judged(result).passed:
            pytest.fail(str(result), pytrace=False)
        self.add_report_section("call", "salvo", str(result))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name
