"""The words of the product: what a check comes to, how grave it is, how an evaluation is run, what it adds up to."""

from __future__ import annotations

from enum import StrEnum


class Result(StrEnum):
    """What a check came to. Indeterminate is a result of its own, never a failure in disguise."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    INDETERMINATE = "indeterminate"


class Severity(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"

    @property
    def weight(self) -> int:
        """How much its check counts in the overall consistency."""
        return 2 if self is Severity.HIGH else 1


class Mode(StrEnum):
    FULL = "full"
    SCREENING = "screening"

    @property
    def label(self) -> str:
        """The specification's own words, which every rendering carries."""
        if self is Mode.FULL:
            return "Auditable (variance-aware)"
        return "Non-auditable quick check (not comparable over time)"


class Status(StrEnum):
    """What a report adds up to, the gravest first."""

    ALERT = "ALERT"
    REVIEW = "REVIEW"
    OBSERVE = "OBSERVE"
    STABLE = "STABLE"

    def is_as_grave_as(self, other: Status) -> bool:
        gravest_first = list(Status)
        return gravest_first.index(self) <= gravest_first.index(other)


class Aggregation(StrEnum):
    """How the runs of a check become its result."""

    MAJORITY_VOTE = "majority_vote"
    REPORT_ALL_RUNS = "report_all_runs"
    """As the majority says, and every run is shown."""
    CONSENSUS_REQUIRED = "consensus_required"
    """What is not unanimous is indeterminate."""


DISCLAIMERS = (
    "This is an observability report, not legal advice.",
    "Pass ≠ safe. Fail ≠ wrong. Indeterminate is expected.",
    "Report describes behavior under this playbook and inputs.",
)
FORBIDDEN_CLAIMS = ("certified", "compliant", "legally safe", "regulator approved")
"""Never asserted in words of ours or of a judge; quotes and the playbook's own text are exempt."""

RUN_VARIANCE = "run_variance"
DRIFT = "drift_over_time_support"
DERIVED = frozenset({RUN_VARIANCE, DRIFT})
"""The checks that no evaluator is asked: they follow from the votes on the others and from a baseline."""
