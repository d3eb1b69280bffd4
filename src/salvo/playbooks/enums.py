"""The terms of the product: results, severities, modes, statuses, and the texts that every report shows."""

from __future__ import annotations

from enum import StrEnum


class Result(StrEnum):
    """The result of a check. Indeterminate is a result of its own, not a failure."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    """The text does what the check asks for."""
    FAIL = "fail"
    """It does not, and where the playbook requires it, a quote shows that."""
    INDETERMINATE = "indeterminate"
    """The votes, or their evidence, do not decide it."""


class Severity(StrEnum):
    """How much a failure of the check matters."""

    HIGH = "high"
    """A failure is an ALERT."""
    MEDIUM = "medium"
    """Two failures are a REVIEW."""

    @property
    def weight(self) -> int:
        """Return the weight of the check in the overall consistency."""
        return 2 if self is Severity.HIGH else 1


class Mode(StrEnum):
    """How thoroughly a text is evaluated."""

    FULL = "full"
    """Each check is judged several times, three by default. Comparable over time."""
    SCREENING = "screening"
    """Each check is judged once. Quick, and not comparable over time."""

    @property
    def label(self) -> str:
        """Return the specification's label, which every rendering shows."""
        if self is Mode.FULL:
            return "Auditable (variance-aware)"
        return "Non-auditable quick check (not comparable over time)"


class Status(StrEnum):
    """The overall status of a report, most severe first."""

    ALERT = "ALERT"
    """A high-severity check failed."""
    REVIEW = "REVIEW"
    """A high-severity check is indeterminate, two medium-severity checks failed, or the votes are too unstable to
    decide."""
    OBSERVE = "OBSERVE"
    """A smaller signal, or a screening."""
    STABLE = "STABLE"
    """No issue was detected by this playbook. This does not mean that the text is correct."""

    def reaches(self, other: Status) -> bool:
        """Return whether this status is at least as severe as the other."""
        most_severe_first = list(Status)
        return most_severe_first.index(self) <= most_severe_first.index(other)


class ShownStatus(StrEnum):
    """What people see as the status: a provider's fault is not a finding."""

    ALERT = "ALERT"
    """A high-severity check failed."""
    REVIEW = "REVIEW"
    """A high-severity check is indeterminate, two medium-severity checks failed, or the votes are too unstable to
    decide."""
    OBSERVE = "OBSERVE"
    """A smaller signal, or a screening."""
    STABLE = "STABLE"
    """No issue was detected by this playbook. This does not mean that the text is correct."""
    INCOMPLETE = "INCOMPLETE"
    """Votes are missing, because calls failed. The report keeps a status, which is not shown."""


def shown_status(status: Status, *, incomplete: bool | None) -> ShownStatus:
    return ShownStatus.INCOMPLETE if incomplete else ShownStatus(status)


class Aggregation(StrEnum):
    """How the runs of a check become its result."""

    MAJORITY_VOTE = "majority_vote"
    """The majority decides."""
    REPORT_ALL_RUNS = "report_all_runs"
    """The majority decides, and every run is shown."""
    CONSENSUS_REQUIRED = "consensus_required"
    """Without a unanimous vote the check is indeterminate."""


DISCLAIMERS = (
    "This is an observability report, not legal advice.",
    "Pass ≠ safe. Fail ≠ wrong. Indeterminate is expected.",
    "Report describes behavior under this playbook and inputs.",
)
FORBIDDEN_CLAIMS = ("certified", "compliant", "legally safe", "regulator approved")
"""Claims that neither we nor a judge may make; quotes and the playbook's own text are exempt."""

RUN_VARIANCE = "run_variance"
DRIFT = "drift_over_time_support"
DERIVED = frozenset({RUN_VARIANCE, DRIFT})
"""Checks that no evaluator judges: they follow from the votes on the others and from a baseline."""
