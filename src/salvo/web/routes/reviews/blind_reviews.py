"""/api/blind-reviews: people decide checks without seeing any result, and how well they agree afterwards."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from salvo.engine.stats.agreement_wording import bounds_text, drop_sentence, further_labels, pair_sentence, quality_rows
from salvo.engine.text.formatting import NamedValue, percent, pluralize
from salvo.errors import UnknownIdError, UsageError
from salvo.playbooks.enums import Result
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.report.verdict_reasons import check_title
from salvo.playbooks.review.blind import (
    SETTLED_WIDTH,
    BlindReviewQuestion,
    BlindSeries,
    CheckAgreement,
    KindCount,
    VerdictKind,
    blind_questions,
    blind_results,
    planned_questions,
)
from salvo.playbooks.review.events import ReviewAction, ReviewDraft
from salvo.playbooks.review.rules import MAX_REASON_LENGTH
from salvo.playbooks.store.damage import PARSE_ERRORS, damaged_row
from salvo.records import record
from salvo.web.request_models import MAX_NAME_LENGTH, Name, NameQuery, RequestModel
from salvo.web.responses import JsonRoute
from salvo.web.routes.reports import ReportTexts, report_texts
from salvo.web.routes.reviews.reviews import PersonName
from salvo.web.services import Services, ServicesDep, UserDep
from salvo.web.sessions import CurrentUser

router = APIRouter(prefix="/api/blind-reviews", tags=["reviews"], route_class=JsonRoute)

MAX_REPORTS_LISTED = 20

_KINDS = {
    VerdictKind.PASSED: "texts judged passed",
    VerdictKind.FAILED: "texts judged failed",
    VerdictKind.SPLIT: "texts with split votes",
}


@record
class BlindSeriesSummary:
    """The checks of one playbook and evaluator that can be decided blind. It has no result."""

    playbook_hash: str
    playbook_id: str
    playbook_version: str
    evaluator: str
    texts: int
    questions: int
    """One for each text and check."""
    decided: int
    """How many of them somebody has decided blind."""


class BlindReviewRequest(
    RequestModel,
    json_schema_extra={
        "examples": [{"playbook_hash": "sha256:0", "evaluator": "rules", "reviewer": "Ada Brown", "number": 40}]
    },
):
    """Who decides, about which reports, and how many questions in all."""

    playbook_hash: Name
    evaluator: Name
    reviewer: PersonName | None = Field(
        default=None, description="A name as typed. Not needed of a user who is logged in."
    )
    number: Annotated[int, Field(ge=1, le=100_000, description="How many questions this reviewer decides in all.")] = 40


class BlindDecisionCreate(
    BlindReviewRequest,
    json_schema_extra={
        "examples": [
            {
                "playbook_hash": "sha256:0",
                "evaluator": "rules",
                "reviewer": "Ada Brown",
                "report_id": "1m7ph8cm2hzr6fft",
                "check_id": "certainty_language",
                "result": "fail",
            }
        ]
    },
):
    """What a reviewer decides about one check of one text."""

    report_id: Name
    check_id: Name
    result: Result
    reason: Annotated[str, Field(max_length=MAX_REASON_LENGTH)] = ""


@record
class BlindAssignment:
    """What a reviewer is asked: the text and the check. Nothing that the evaluator or another reviewer decided."""

    report_id: str
    check_id: str
    title: str
    """The name of the check, in words."""
    question: str
    instructions: str
    texts: ReportTexts


@record
class BlindProgress:
    assignment: BlindAssignment | None
    """What is asked next; null if this reviewer has decided as many questions as they wanted, or all."""
    remaining: int
    """The questions that are left, with this one."""
    decided: int
    """The questions that this reviewer has decided."""


@record
class BlindCheckResult:
    """How well the evaluator agrees with people on one check."""

    check_id: str
    title: str
    kinds: list[KindCount]
    passed_by_evaluator: str
    corrected: str
    """The share that people would pass, with its interval."""
    advice: str
    """How many more decisions of which kind would settle that share; empty if it is settled."""
    measures: list[NamedValue]
    wrongly_passed: list[str]
    """Reports whose check the evaluator passed and people fail; at most 20."""
    wrongly_failed: list[str]
    notices: list[str]


@record
class BlindReviewResult:
    checks: list[BlindCheckResult]
    reviewers: list[str]
    """How well each two reviewers agree on what both decided, as sentences."""
    notes: list[str]
    """What is not counted."""


@router.get("", operation_id="listBlindReviews")
def list_series(services: ServicesDep) -> list[BlindSeriesSummary]:
    """Return what can be decided blind: the reports whose text is stored, by playbook and evaluator."""
    reports = services.store.reviews.reports(with_text=True)
    summaries = []
    for series in dict.fromkeys(BlindSeries(report.playbook_hash, report.evaluator) for report in reports):
        used = services.store.playbook(series.playbook_hash)
        if used is None:
            continue
        try:
            playbook = Playbook.from_document(used.document)
        except PARSE_ERRORS as error:
            raise damaged_row("playbook", series.playbook_hash, error) from error
        questions = blind_questions(reports, series)
        summaries.append(
            BlindSeriesSummary(
                playbook_hash=series.playbook_hash,
                playbook_id=playbook.id,
                playbook_version=playbook.version,
                evaluator=series.evaluator,
                texts=len({question.report_id for question in questions}),
                questions=len(questions),
                decided=sum(bool(question.answers) for question in questions),
            )
        )
    return summaries


@router.post("/next", operation_id="nextBlindAssignment")
def next_assignment(body: BlindReviewRequest, services: ServicesDep, user: UserDep) -> BlindProgress:
    """Return what a reviewer is asked next, without any result."""
    return _progress(services, body, _reviewer(body.reviewer, user))


@router.post("", operation_id="addBlindDecision", status_code=201)
def decide(body: BlindDecisionCreate, services: ServicesDep, user: UserDep) -> BlindProgress:
    """Record a decision as a blind step of the report's review, and return what is asked next.

    An earlier blind decision of the same reviewer about the check is replaced, and stays in the history.
    """
    reviewer = _reviewer(body.reviewer, user)
    draft = ReviewDraft(
        ReviewAction.OVERRIDE,
        reviewer,
        check_id=body.check_id,
        result=body.result,
        reason=body.reason,
        blind=True,
        authenticated=user.authenticated,
    )
    services.store.reviews.add(body.report_id, draft)
    return _progress(services, body, reviewer)


@router.get("/results", operation_id="getBlindResults")
def results(
    services: ServicesDep,
    user: UserDep,
    playbook_hash: NameQuery,
    evaluator: NameQuery,
    reviewer: Annotated[str, Query(max_length=MAX_NAME_LENGTH, description="Who asks.")] = "",
) -> BlindReviewResult:
    """Return how well people agree with each other and with the evaluator.

    Who takes part sees nothing about a question that others decided before they have decided it, too.
    """
    questions = _questions(services, BlindSeries(playbook_hash, evaluator))
    outcome = blind_results(questions, user.authenticated_name or reviewer.strip())
    left_out = {
        "decided by others and not by you: nothing of them is counted before you have decided, too": outcome.withheld,
        "decided by people who knew the result, and by nobody blind: not counted": outcome.informed,
        "about texts that were evaluated after the last blind decision: not counted": outcome.newer,
    }
    return BlindReviewResult(
        checks=[_check_result(check) for check in outcome.checks],
        reviewers=[f"{pair_sentence(pair.reviewers, pair.agreement)}." for pair in outcome.reviewers],
        notes=[f"{pluralize(count, 'question')} {why}." for why, count in left_out.items() if count],
    )


def _reviewer(typed: str | None, user: CurrentUser) -> str:
    name = user.authenticated_name or (typed or "").strip()
    if not name:
        raise UsageError("A review needs the name of the reviewer.", hint="Give your name.")
    return name


def _questions(services: Services, series: BlindSeries) -> list[BlindReviewQuestion]:
    questions = blind_questions(services.store.reviews.reports(with_text=True), series)
    if not questions:
        raise UnknownIdError("No report of this playbook and evaluator has a stored text.")
    return questions


def _progress(services: Services, body: BlindReviewRequest, reviewer: str) -> BlindProgress:
    questions = _questions(services, BlindSeries(body.playbook_hash, body.evaluator))
    planned = planned_questions(questions, reviewer, body.number)
    decided = sum(reviewer in question.answers for question in questions)
    return BlindProgress(_assignment(services, planned[0]) if planned else None, len(planned), decided)


def _assignment(services: Services, question: BlindReviewQuestion) -> BlindAssignment:
    stored = services.store.load(question.report_id)
    if stored.inputs is None:
        raise UnknownIdError(f"The text of the report {stored.id} is not stored.")
    check = next(check for check in Playbook.from_document(stored.playbook).checks if check.id == question.check_id)
    return BlindAssignment(
        report_id=stored.id,
        check_id=check.id,
        title=check_title(check.id),
        question=check.question,
        instructions=check.instructions,
        texts=report_texts(stored.inputs),
    )


def _check_result(check: CheckAgreement) -> BlindCheckResult:
    total = sum(kind.questions for kind in check.kinds)
    rate = "unknown" if check.corrected.rate is None else percent(check.corrected.rate)
    decided = pluralize(sum(kind.decided for kind in check.kinds), "decision")
    return BlindCheckResult(
        check_id=check.check_id,
        title=check_title(check.check_id),
        kinds=check.kinds,
        passed_by_evaluator=f"{check.passed_by_evaluator} of {total}",
        corrected=f"{rate}, 95% interval {bounds_text(check.corrected.interval)}, by {decided} of {total}",
        advice=_advice(check),
        measures=list(quality_rows(check.quality)),
        wrongly_passed=check.wrongly_passed[:MAX_REPORTS_LISTED],
        wrongly_failed=check.wrongly_failed[:MAX_REPORTS_LISTED],
        notices=[drop_sentence(drop, kind, "texts") for kind, drop in check.drops.items()],
    )


def _advice(check: CheckAgreement) -> str:
    """Return how many more decisions of which kind would settle the share that people pass; empty if it is settled."""
    if check.needed is None:
        return "No further decision would settle it, because reviewers could not tell or disagree."
    if not check.needed:
        return ""
    undecided = {kind.kind for kind in check.kinds if kind.decided == kind.unclear}
    condition = (
        "if people agree with the evaluator" if undecided & check.needed.keys() else "if they come out as those so far"
    )
    decisions = further_labels({_KINDS[kind]: number for kind, number in check.needed.items()}, "decision")
    width = round(100 * SETTLED_WIDTH)
    return f"{decisions} would settle it (an interval of at most {width} points), {condition}."
