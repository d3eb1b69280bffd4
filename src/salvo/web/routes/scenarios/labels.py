"""/api/batches/{id}/labels: people label judged runs, blind, and see what the labels show."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from salvo.engine.jsonio.type_adapters import copy_fields
from salvo.engine.stats.agreement_wording import drop_sentence, pair_sentence, quality_rows
from salvo.engine.stats.gating import GateVerdict
from salvo.engine.stats.pass_rates import Interval
from salvo.engine.text.formatting import NamedValue
from salvo.errors import UnknownIdError, UsageError
from salvo.records import record
from salvo.scenarios.labels import sentences
from salvo.scenarios.labels.batch_labels import BatchLabels, NextQuestion
from salvo.scenarios.labels.label_store import LONGEST_NAME, LONGEST_NOTE, LabelAnswer, reviewer_name
from salvo.scenarios.labels.records import JudgeLabels, LabelEvidence, StratumLabels
from salvo.web.request_models import RequestModel
from salvo.web.responses import JsonRoute
from salvo.web.services import Services, ServicesDep, UserDep
from salvo.web.sessions import CurrentUser

router = APIRouter(prefix="/api/batches/{batch_id}/labels", tags=["batches"], route_class=JsonRoute)

MAX_RUNS_LISTED = 20

PersonName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
LabelNumber = Annotated[int, Field(ge=1, le=100_000, description="How many runs this reviewer labels in all.")]


@record
class JudgeAgreement:
    """How well a judge agrees with people."""

    assertion: str
    measures: list[NamedValue]
    """Each with its interval, as in the terminal."""
    wrongly_passed: list[str]
    """Runs that the judge passed and people fail; at most 20."""
    wrongly_failed: list[str]
    notices: list[str]
    """That people agree less often with the judge than before."""


@record
class LabelResult:
    """What the labels of a batch show."""

    required: bool
    """Whether they decide about the verdict, because the scenario has `labels`."""
    verdict: GateVerdict
    sentence: str
    """What they show about the required pass rate, and how many more would settle it."""
    corrected: str
    """The corrected pass rate with its interval, as in the terminal."""
    rate: float | None
    interval: Interval
    runs: int
    labelled: int
    decided_without_judge: int
    strata: list[StratumLabels]
    judges: list[JudgeAgreement]
    reviewers: list[str]
    """How well each two reviewers agree, as sentences."""


@record
class BlindQuestion:
    """A question for a reviewer. It has nothing that the judge or another reviewer said."""

    key: str
    assertion: str
    rubric: str
    scale: str
    turn: int | None
    transcript: dict[str, str]


@record
class LabelProgress:
    question: BlindQuestion | None
    """What is asked next; null if this reviewer has labelled as many runs as they wanted."""
    remaining: int
    """The questions that are left, with this one."""
    labelled: int
    """The runs that this reviewer has labelled."""


class LabelRequest(RequestModel, json_schema_extra={"examples": [{"reviewer": "Ada Brown", "number": 40}]}):
    """Who labels, and how many runs in all."""

    reviewer: PersonName | None = Field(
        default=None, description="A name as typed. Not needed of a user who is logged in."
    )
    number: LabelNumber = 40


class LabelCreate(
    LabelRequest,
    json_schema_extra={"examples": [{"reviewer": "Ada Brown", "number": 40, "key": "0" * 64, "answer": "fail"}]},
):
    """An answer of a reviewer."""

    key: str = Field(pattern="^[0-9a-f]{64}$", description="The key of the question.")
    answer: LabelAnswer
    note: str = Field("", max_length=LONGEST_NOTE)


@router.get("", operation_id="getLabels")
def show(batch_id: str, services: ServicesDep) -> LabelResult | None:
    """Return what the labels of a batch show; null if no run was completed."""
    labels = _load(batch_id, services)
    evidence = labels.evidence
    return None if evidence is None else _result(evidence, labels.batch.min_pass_rate)


@router.post("/next", operation_id="nextLabel")
def next_question(batch_id: str, body: LabelRequest, services: ServicesDep, user: UserDep) -> LabelProgress:
    """Return what a reviewer is asked next. The first time, the random order of the runs is drawn and stored."""
    labels = _load(batch_id, services)
    clock = services.settings.clock
    labels.ensure_draw(clock.new_id(), clock.now().isoformat())
    return _progress(labels, _reviewer(body, user), body.number)


@router.post("", operation_id="addLabel", status_code=201)
def add(batch_id: str, body: LabelCreate, services: ServicesDep, user: UserDep) -> LabelProgress:
    """Store an answer, and return what is asked next. An earlier answer of the same reviewer is replaced.

    The answer of a user who is logged in is stored in their name, whatever name was typed.
    """
    labels = _load(batch_id, services)
    item = labels.questions.get(body.key)
    if item is None:
        raise UnknownIdError(f"The batch {labels.batch.batch_id} has no such question.")
    name, now = _reviewer(body, user), services.settings.clock.now().isoformat()
    labels.save([labels.new_label(item, body.answer, body.note.strip(), name, now)])
    services.catalog.labels_changed(labels.batch.batch_id)
    return _progress(labels, name, body.number)


def _load(batch_id: str, services: Services) -> BatchLabels:
    store = services.catalog.store
    return BatchLabels.load(store, store.load_batch(store.find_batch(batch_id)))


def _reviewer(body: LabelRequest, user: CurrentUser) -> str:
    name = reviewer_name(user.authenticated_name or body.reviewer or "")
    if not name:
        raise UsageError("Who labels? The name is empty.")
    return name


def _progress(labels: BatchLabels, reviewer: str, number: int) -> LabelProgress:
    planned = labels.planned(reviewer, number)
    return LabelProgress(_blind(planned[0]) if planned else None, len(planned), labels.labelled_by(reviewer))


def _blind(item: NextQuestion) -> BlindQuestion:
    question = item.question
    return BlindQuestion(
        question.key, question.assertion, question.rubric, question.scale, question.turn, dict(question.transcript)
    )


def _result(evidence: LabelEvidence, min_pass_rate: float) -> LabelResult:
    return copy_fields(
        LabelResult,
        evidence,
        sentence=sentences.evidence_phrase(evidence, min_pass_rate),
        corrected=sentences.corrected_rate(evidence, min_pass_rate),
        judges=[_judge(judge) for judge in evidence.judges if judge.quality.labels],
        reviewers=[f"{pair_sentence(pair.reviewers, pair.agreement)}." for pair in evidence.reviewers],
    )


def _judge(judge: JudgeLabels) -> JudgeAgreement:
    return JudgeAgreement(
        judge.assertion,
        list(quality_rows(judge.quality)),
        judge.wrongly_passed[:MAX_RUNS_LISTED],
        judge.wrongly_failed[:MAX_RUNS_LISTED],
        [drop_sentence(drop, verdict) for verdict, drop in judge.drops.items()],
    )
