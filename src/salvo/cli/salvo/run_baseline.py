"""`salvo run --against-baseline`: compare the runs with a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from salvo.errors import UsageError
from salvo.scenarios.analysis import baseline
from salvo.scenarios.analysis.batch_stats import BatchStats, measure
from salvo.scenarios.analysis.compare import ComparisonReport, ComparisonVerdict
from salvo.scenarios.analysis.comparison_inputs import compare_with_baseline
from salvo.scenarios.report import comparison
from salvo.scenarios.run.runner import ScenarioRuns
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.store import RunStore


@dataclass(frozen=True)
class Baseline:
    stats: list[BatchStats]

    @classmethod
    def read(cls, project: Project, name: str | None) -> Baseline:
        """Read the baseline in a file; without a name, the one of the project."""
        path = project.store / baseline.NAME if name is None else Path(name)
        if path.is_dir() or path.suffix in (".yaml", ".yml"):
            raise UsageError(
                f"{path} is not a baseline.",
                hint="Scenarios come before the option: salvo run PATH --against-baseline [FILE]",
            )
        return cls(baseline.read(path))

    @property
    def scenario_ids(self) -> set[str]:
        return {stats.scenario_id for stats in self.stats}

    def check(self, work: list[ScenarioRuns]) -> None:
        """Raise UsageError if the baseline has none of the scenarios."""
        names = [item.batch.scenario_id for item in work]
        if self.scenario_ids.isdisjoint(names):
            raise UsageError(
                f"The baseline has none of these scenarios: {', '.join(names)}.",
                hint="Bless a batch of them: salvo baseline bless BATCH. Nothing was run, and nothing was spent.",
            )

    def compare(self, store: RunStore, work: list[ScenarioRuns], commits: int) -> BaselineComparison:
        notes = [
            f"{item.batch.scenario_id} is not in the baseline. Add it: salvo baseline bless {item.batch.batch_id}"
            for item in work
            if item.batch.scenario_id not in self.scenario_ids
        ]
        now = [(measure(item.batch, entries := item.entries), entries) for item in work]
        return BaselineComparison(compare_with_baseline(store, self.stats, now, notes, commits))


@dataclass(frozen=True)
class BaselineComparison:
    report: ComparisonReport

    @property
    def is_worse(self) -> bool:
        return bool(self.report.comparison.worse)

    @property
    def is_unjudged(self) -> bool:
        return self.report.comparison.verdict is ComparisonVerdict.NOT_JUDGED

    def lines(self) -> list[str]:
        return ["Against the baseline (A):", *comparison.lines(self.report, colour=True)]
