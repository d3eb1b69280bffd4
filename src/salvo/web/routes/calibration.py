"""/api/calibration: how well evaluators agree with reviewers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query

from salvo.engine.stats.rates import Interval
from salvo.engine.stats.wording import quality_rows
from salvo.engine.text.formatting import NamedValue
from salvo.playbooks.calibration import wording
from salvo.playbooks.calibration.analysis import CheckCalibration, VerdictCounts, calibrations
from salvo.web.request_models import MAX_NAME_LENGTH
from salvo.web.responses import JsonRoute
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api", tags=["reviews"], route_class=JsonRoute)

MAX_REPORTS_LISTED = 20


@dataclass(frozen=True, slots=True)
class EvaluatorQuality:
    """How well one evaluator judges one check of a playbook."""

    playbook_id: str
    playbook_version: str
    playbook_hash: str
    check_id: str
    evaluator: str
    reports: int
    reviewed: int
    blind: int
    reviewed_sentence: str
    """How many reports were reviewed, and whether they were drawn at random."""
    judged_pass_rate: str
    corrected_pass_rate: str
    """With its interval."""
    corrected_rate: float | None
    corrected_interval: Interval | None
    counts: list[VerdictCounts]
    measures: list[NamedValue]
    """Agreement, kappa, precision and recall, each with its interval."""
    wrongly_passed: list[str]
    """Reports in which the evaluator passed it and reviewers fail it; at most 20."""
    wrongly_failed: list[str]
    notices: list[str]
    """That reviewers agree less often with the evaluator than before."""
    reviewers: list[str]
    """How well each two reviewers agree who did not see the evaluator's result."""
    review_next: list[str]
    """The reports to review next, in a random order."""


@dataclass(frozen=True, slots=True)
class EvaluatorQualities:
    checks: list[EvaluatorQuality]
    """The most reviewed first."""


@router.get("/calibration", operation_id="getCalibration")
def show(
    services: ServicesDep,
    subject: Annotated[str | None, Query(max_length=MAX_NAME_LENGTH, description="Only reports of this.")] = None,
    blind: Annotated[bool, Query(description="Only decisions made without seeing the evaluator's result.")] = False,
) -> EvaluatorQualities:
    """Return how well evaluators agree with reviewers, for each playbook, check and evaluator with a review."""
    labels = services.store.labels()
    if subject is not None:
        labels = [label for label in labels if label.subject == subject]
    rows = calibrations(services.store.judged_checks(subject=subject), labels, only_blind=blind)
    return EvaluatorQualities([_quality(row) for row in rows])


def _quality(row: CheckCalibration) -> EvaluatorQuality:
    return EvaluatorQuality(
        playbook_id=row.playbook_id,
        playbook_version=row.playbook_version,
        playbook_hash=row.playbook_hash,
        check_id=row.check_id,
        evaluator=row.evaluator,
        reports=row.reports,
        reviewed=row.reviewed,
        blind=row.blind,
        reviewed_sentence=wording.reviewed(row),
        judged_pass_rate=wording.judged_rate(row),
        corrected_pass_rate=wording.corrected_rate(row),
        corrected_rate=row.corrected_rate,
        corrected_interval=row.corrected_interval,
        counts=row.counts,
        measures=list(quality_rows(row.quality)),
        wrongly_passed=row.wrongly_passed[:MAX_REPORTS_LISTED],
        wrongly_failed=row.wrongly_failed[:MAX_REPORTS_LISTED],
        notices=wording.notices(row),
        reviewers=wording.reviewer_sentences(row),
        review_next=row.review_next,
    )
