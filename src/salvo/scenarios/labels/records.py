"""What the labels of a batch show, as data. Pure."""

from __future__ import annotations

from enum import StrEnum

from salvo.engine.stats.calibration import NeededLabels, Stratum
from salvo.engine.stats.gating import GateVerdict
from salvo.engine.stats.judge_agreement import AgreementDrop, JudgeQuality, ReviewerPair
from salvo.engine.stats.pass_rates import Interval
from salvo.records import record


class Verdicts(StrEnum):
    """How the judges came to the outcome of a run: labels are drawn at random within each kind."""

    PASSED = "passed"
    FAILED = "failed"
    SPLIT = "split"
    """The votes of a judge were not unanimous."""


@record
class StratumLabels:
    """The runs with one kind of verdict, and the labels of those that were drawn."""

    verdicts: Verdicts
    runs: int
    labelled: int
    passed: int
    failed: int
    unclear: int
    """Those whose reviewers could not tell, or disagree."""

    @property
    def stratum(self) -> Stratum:
        return Stratum(self.runs, self.labelled, self.passed, self.unclear)


@record
class JudgeLabels:
    """How well one judge agrees with people, over the runs whose outcome depends on a judge."""

    assertion: str
    quality: JudgeQuality
    wrongly_passed: list[str]
    """Runs with a question that the judge passed and people fail."""
    wrongly_failed: list[str]
    drops: dict[str, AgreementDrop]
    """By verdict, "passed" or "failed": the newest drop in agreement over time."""


@record
class LabelEvidence:
    """The pass rate of a batch as people see it. The judged one stands beside it, and is never replaced."""

    required: bool
    """Whether the scenario has `labels`, so that this decides about the verdict."""
    verdict: GateVerdict
    confidence: float
    rate: float | None
    """None if one kind of verdict has no clear label."""
    interval: Interval
    about_agent: bool
    """Whether the interval is about the agent, of which the runs are a sample, because a confidence is required."""
    runs: int
    """The runs that the rate is about: all completed ones; with a confidence, those not answered from a cache."""
    labelled: int
    decided_without_judge: int
    """The runs whose outcome no judge can change."""
    strata: list[StratumLabels]
    needed: NeededLabels[Verdicts] | None
    """How many labels would settle the verdict; None if it is settled, or if no number of labels would."""
    judges: list[JudgeLabels]
    reviewers: list[ReviewerPair]
