"""The values that the store takes and returns."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from salvo.playbooks.enums import Mode, Result, Status
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.report.report import DocumentIdentity, Report
from salvo.records import record

RUN_HINT = "Start with `byop run FILE`, where FILE has the AI output."
"""What to do where nothing is stored yet."""


class State(StrEnum):
    QUEUED = "queued"
    """It waits for its turn, or for a server to take it over. Stored as running; the columns of the lease tell."""
    RUNNING = "running"
    DONE = "done"
    INTERRUPTED = "interrupted"
    """The process ended before the evaluation did. Its votes are stored, and it can be resumed."""
    CANCELLED = "cancelled"
    """A user stopped it."""
    BATCHED = "batched"
    """Its questions wait for a provider's batch. `byop collect` completes it."""
    FAILED = "failed"
    """An error ended it, which is stored with it. Its votes are stored, and it can be resumed."""


@record
class ErrorDetail:
    """What happened and how to correct it. `code` is for programs and does not change."""

    code: str
    message: str
    hint: str = ""


@record
class StoredEvaluation:
    id: str
    created_at: str
    finished_at: str | None
    state: State
    subject: str
    mode: Mode
    runs: int
    evaluator: str
    producer: str | None
    document_identity: DocumentIdentity | None
    """What the document is called, and its file; None if nothing of it was recorded."""
    group: str | None
    """The command that started several evaluations at once, one per evaluator."""
    settings: Mapping[str, Any]
    """What else is needed to resume or replay the evaluation."""
    playbook_hash: str
    playbook: Mapping[str, Any]
    """The complete document of the playbook."""
    inputs: Inputs | None
    """None if only hashes were stored."""
    inputs_fingerprint: str
    raw_hashes: Mapping[str, str]
    stored_in_full: bool
    """False if only fingerprints and verdicts are stored, and no text."""
    report: Report | None
    baseline_since: str | None
    """When it was saved as a baseline, or None."""
    client: str | None
    """Who asked a server for it; None if a command runs it."""
    requirement: str | None
    """What a server must have to run it; see `leases.Submission`."""
    error: ErrorDetail | None = None
    """Why it failed, if it did."""
    batch: Mapping[str, Any] | None = None
    """The batch of its questions, if they are asked through a provider's batch API."""


@record
class UsedPlaybook:
    """A playbook with stored evaluations."""

    logic_hash: str
    document: Mapping[str, Any]
    used_by: str
    """The newest of the evaluations."""


@record
class HistoryRow:
    """An evaluation in a list. Very long names are shortened, as in the index."""

    id: str
    created_at: str
    finished_at: str | None
    """None while there is no report."""
    state: State
    subject: str
    title: str | None
    """What the document is called; None if it was not recorded."""
    mode: Mode
    runs: int
    evaluator: str
    playbook_id: str
    playbook_version: str
    playbook_hash: str
    status: Status | None
    consistency: float | None
    incomplete: bool | None
    stored_in_full: bool
    baseline: bool
    group: str | None


@record
class DamagedEvaluation:
    """An evaluation that cannot be listed, because its row has values that Salvo did not write."""

    id: str
    message: str
    """What is wrong, and what to do about it."""


@record
class EvaluationList:
    rows: list[HistoryRow]
    damaged: list[DamagedEvaluation]
    more: bool
    """Whether there are more after these."""
    total: int
    """How many match, on all pages together."""
    unindexed: int
    """Evaluations whose texts a search in texts had to read, because they are not indexed yet."""


@record
class TimelinePoint:
    """One report of a series, with what a chart needs."""

    id: str
    created_at: str
    title: str | None
    """What the document is called; None if it was not recorded."""
    mode: Mode
    evaluator: str
    playbook_hash: str
    inputs_fingerprint: str
    status: Status
    consistency: float | None
    incomplete: bool
    outcomes: Mapping[str, Result]
    """By the id of the check."""
    baseline: bool


@record
class BaselineRecord:
    evaluation_id: str
    subject: str
    playbook_id: str
    playbook_version: str
    playbook_hash: str
    evaluator: str
    evaluated_at: str
    saved_at: str
    status: Status
    consistency: float | None


@record
class RawVote:
    """The columns of a vote, unparsed: verification must be able to read altered content."""

    check_id: str
    run: int
    valid: bool
    result: str
    vote: str
    exchanges: str


@record
class RawEvaluation:
    """The columns of an evaluation, unparsed."""

    id: str
    state: str
    status: str | None
    consistency: float | None
    incomplete: bool | None
    stored_in_full: bool
    playbook_hash: str
    playbook: str
    inputs_fingerprint: str
    inputs: str | None
    outcomes: str | None
    report_hash: str | None
    report: str | None
    votes: tuple[RawVote, ...]


RawRow: TypeAlias = Mapping[str, Any]
"""A row by the names of its columns, as the driver returns it: an altered value may have any type."""


@record
class RawRows:
    """Every row about one evaluation."""

    evaluation: RawRow | None
    playbook: RawRow | None
    votes: tuple[RawRow, ...]
    baseline: RawRow | None
    document: RawRow | None
    reviews: tuple[RawRow, ...]
    review_texts: tuple[RawRow, ...]
    share_links: tuple[RawRow, ...]
