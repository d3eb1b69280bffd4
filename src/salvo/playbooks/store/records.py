"""What goes into the store and what comes out of it: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from salvo.playbooks.enums import Mode, Result, Status
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.playbook.schema import Playbook
from salvo.playbooks.report.report import Report

BEGIN = "Begin with `byop run FILE`, FILE being what an AI wrote."


class State(StrEnum):
    RUNNING = "running"
    DONE = "done"
    INTERRUPTED = "interrupted"
    """Its process ended before it did; what was judged is stored, and the rest can be asked for."""
    CANCELLED = "cancelled"
    FAILED = "failed"
    """By a fault that is stored with it; what was judged stays, and the rest can be asked for."""


@dataclass(frozen=True, slots=True)
class NewEvaluation:
    """What is stored before the first call."""

    id: str
    playbook: Playbook
    inputs: Inputs
    evaluator: str
    mode: Mode
    runs: int
    subject: str
    producer: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Whatever a resumption or a replay needs to know beside these."""
    stored_in_full: bool = True
    """False keeps fingerprints and verdicts, and no text."""
    group: str | None = None
    """The command that made several evaluations at once, one for each evaluator."""


@dataclass(frozen=True, slots=True)
class StoredError:
    """Why an evaluation failed, and what to do about it; `code` is for programs."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
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
    group: str | None
    settings: Mapping[str, Any]
    playbook_hash: str
    playbook: Mapping[str, Any]
    """The playbook's whole document."""
    inputs: Inputs | None
    """None where only hashes were stored."""
    inputs_fingerprint: str
    raw_hashes: Mapping[str, str]
    stored_in_full: bool
    report: Report | None
    baseline_since: str | None
    """When it was saved as a baseline; None where it was not."""
    fault: StoredError | None = None
    """Why it failed, where it did."""


@dataclass(frozen=True, slots=True)
class UsedPlaybook:
    """A playbook that evaluations are stored of; `used_by` is the newest of them."""

    logic_hash: str
    document: Mapping[str, Any]
    used_by: str


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """An evaluation as it is listed. Names are as they can be indexed: the very long ones are cut."""

    id: str
    created_at: str
    finished_at: str | None
    state: State
    subject: str
    mode: Mode
    runs: int
    evaluator: str
    playbook_id: str
    playbook_version: str
    playbook_hash: str
    status: Status | None
    """None while there is no report."""
    consistency: float | None
    incomplete: bool | None
    stored_in_full: bool
    baseline: bool
    group: str | None


@dataclass(frozen=True, slots=True)
class TimelinePoint:
    """One report of a series, with what is needed to draw it."""

    id: str
    created_at: str
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class RawVote:
    """The columns as they are, read by nobody yet: a verifier must see what was altered, not stumble over it."""

    check_id: str
    run: int
    valid: bool
    result: str
    vote: str
    exchanges: str


@dataclass(frozen=True, slots=True)
class RawEvaluation:
    """The same of an evaluation."""

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
