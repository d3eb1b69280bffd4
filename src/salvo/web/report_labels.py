"""The labels of a report for the page, worded exactly as in the report's exports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from salvo.engine.text.formatting import NamedValue
from salvo.playbooks.report import labels
from salvo.playbooks.report.report import CheckResult, Report


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and its value; `code` if the value is an identifier or a hash."""

    name: str
    value: str
    code: bool


@dataclass(frozen=True, slots=True)
class CheckLabels:
    votes: str
    facts: tuple[Fact, ...]
    decided_by: str
    """Why the evaluator did not judge the check; empty if it did."""
    notices: tuple[str, ...]
    """That votes are missing, or that the evidence did not support the vote."""


@dataclass(frozen=True, slots=True)
class ReportLabels:
    status: str
    mode: str
    incomplete: str
    texts_withheld: str
    tally: str
    """How many checks failed, passed and are indeterminate."""
    checks: Mapping[str, CheckLabels]
    """By the id of the check."""
    rejected: str
    """What it means that a citation was rejected."""
    unverified: str
    revision_prompt: str
    variance: tuple[Fact, ...]
    evaluator_variance: str
    drift: str
    drift_facts: tuple[Fact, ...]
    unchecked_areas: tuple[str, ...]
    """In the order of the report."""
    integrity: tuple[Fact, ...]
    evaluator: tuple[Fact, ...]
    producer: tuple[Fact, ...]
    spending: tuple[Fact, ...]


def report_labels(report: Report) -> ReportLabels:
    return ReportLabels(
        status=labels.MEANINGS[report.summary.overall_status],
        mode=report.execution_mode.label,
        incomplete=labels.INCOMPLETE,
        texts_withheld=labels.TEXTS_WITHHELD,
        tally=labels.tally(report.check_results),
        checks={check.check_id: _check_labels(check) for check in report.check_results},
        rejected=labels.REJECTED,
        unverified=labels.UNVERIFIED,
        revision_prompt=labels.PROMPT,
        variance=_facts(labels.variance(report)),
        evaluator_variance=labels.EVALUATOR_VARIANCE,
        drift=labels.DRIFTS[report.drift_summary.kind],
        drift_facts=_facts(labels.drift(report.drift_summary)),
        unchecked_areas=tuple(labels.stated_by(area) for area in report.unchecked_areas),
        integrity=_facts(labels.integrity(report)),
        evaluator=_facts(labels.fingerprint(report.model_fingerprints.evaluator)),
        producer=_facts(labels.fingerprint(report.model_fingerprints.producer)),
        spending=_facts(labels.spending(report)),
    )


def _check_labels(check: CheckResult) -> CheckLabels:
    return CheckLabels(
        votes=labels.votes(check),
        facts=_facts(labels.facts(check)),
        decided_by=labels.UNASKED.get(check.decided_by, ""),
        notices=tuple(notice for notice in (labels.unfinished(check), labels.overruled(check)) if notice),
    )


def _facts(values: Iterable[NamedValue]) -> tuple[Fact, ...]:
    return tuple(Fact(*value) for value in values)
