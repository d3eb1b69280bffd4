"""The matrix of a batch of documents: which check came to which result in which document. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from salvo.engine.text.formatting import pluralize
from salvo.playbooks.enums import DERIVED, Result, Severity, ShownStatus
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.store.records import State
from salvo.records import record

UNTITLED = "Untitled document"


@record
class UnreadDocument:
    """A file of the batch that could not be evaluated, because its text could not be read."""

    file_name: str
    message: str
    """What is wrong with it, and what to do."""


@record
class DocumentBatch:
    """Documents that were given to be evaluated together."""

    id: str
    created_at: str
    title: str
    subject: str
    planned: int
    """How many evaluations were announced, including those of files that could not be read."""
    unread: tuple[UnreadDocument, ...] = ()


@record
class CheckColumn:
    check_id: str
    title: str
    question: str
    severity: Severity


@record
class DocumentRow:
    """One document, as one evaluator judged it."""

    evaluation_id: str
    title: str
    file_name: str | None
    evaluator: str
    state: State
    status: ShownStatus | None
    """None until there is a report."""
    outcomes: Mapping[str, Result]
    """By the id of the check; empty until there is a report."""
    answered: int
    """Questions with a valid vote."""
    questions: int
    created_at: str
    finished_at: str | None
    problem: str = ""
    """Why it failed, if it did."""
    inputs_fingerprint: str = ""
    requirement: str | None = None
    """What a server must have to run it; see `leases.Submission`."""

    @property
    def is_open(self) -> bool:
        """Whether it runs, or waits for its turn."""
        return self.state in (State.RUNNING, State.QUEUED)

    @property
    def is_resumable(self) -> bool:
        """Whether it ended without all of its votes."""
        return not self.is_open and (self.state is not State.DONE or self.status is ShownStatus.INCOMPLETE)


@record
class MatrixTotals:
    planned: int
    reports: int
    """Complete or not."""
    open: int
    """Evaluations that run or wait for their turn."""
    stopped: int
    """Evaluations that were cancelled or interrupted, or failed."""
    unread: int
    missing: int
    """Documents that were announced and never arrived."""
    statuses: Mapping[ShownStatus, int]
    results: Mapping[str, Mapping[Result, int]]
    """By the id of the check."""


@dataclass(frozen=True)
class DocumentMatrix:
    batch: DocumentBatch
    checks: tuple[CheckColumn, ...]
    rows: tuple[DocumentRow, ...]
    """In the order in which the documents were given."""
    playbooks: tuple[str, ...] = field(default=())
    """Their ids and versions."""

    @classmethod
    def judged_by(cls, playbooks: Sequence[Playbook], batch: DocumentBatch, rows: tuple[DocumentRow, ...]) -> Self:
        names = tuple(f"{playbook.id} {playbook.version}" for playbook in playbooks)
        return cls(batch, check_columns(playbooks), rows, names)

    @cached_property
    def totals(self) -> MatrixTotals:
        statuses = Counter(row.status for row in self.rows if row.status is not None)
        results = {check.check_id: Counter[Result]() for check in self.checks}
        for row in self.rows:
            for check_id, result in row.outcomes.items():
                results[check_id][result] += 1
        unread = len(self.batch.unread)
        planned = max(self.batch.planned, len(self.rows) + unread)
        return MatrixTotals(
            planned=planned,
            reports=sum(statuses.values()),
            open=sum(row.is_open for row in self.rows),
            stopped=sum(not row.is_open and row.state is not State.DONE for row in self.rows),
            unread=unread,
            missing=planned - len(self.rows) - unread,
            statuses={status: statuses[status] for status in ShownStatus if statuses[status]},
            results={check_id: {result: counts[result] for result in Result} for check_id, counts in results.items()},
        )

    @property
    def several_evaluators(self) -> bool:
        return len({row.evaluator for row in self.rows}) > 1

    def label(self, row: DocumentRow) -> str:
        """Return the name of a row: the title of its document, with the evaluator where there are several."""
        return f"{row.title} ({row.evaluator})" if self.several_evaluators else row.title


def check_columns(playbooks: Sequence[Playbook]) -> tuple[CheckColumn, ...]:
    """Return the checks of the playbooks, each once; those that follow from the others last."""
    checks = {check.id: check for playbook in playbooks for check in playbook.checks}
    ordered = sorted(checks.values(), key=lambda check: check.id in DERIVED)
    return tuple(CheckColumn(check.id, check_title(check.id), check.question, check.severity) for check in ordered)


def check_title(check_id: str) -> str:
    """Return an id as a title: "assumption_disclosure" becomes "Assumption disclosure"."""
    text = check_id.replace("_", " ").strip()
    return text[:1].upper() + text[1:] or check_id


def ordered_by_title(rows: Sequence[DocumentRow]) -> tuple[DocumentRow, ...]:
    """Return the rows as a folder lists its files: numbers count as numbers, capitals as small letters."""
    return tuple(sorted(rows, key=lambda row: (_title_key(row.title), row.evaluation_id)))


def _title_key(title: str) -> list[tuple[bool, int, str]]:
    """Return the parts of a title: numbers, those with the fewest digits first, before what is between them."""
    digits_and_others = re.findall(r"0*([0-9]+)|([^0-9]+)", title.casefold())
    return [(not digits, len(digits), digits or other) for digits, other in digits_and_others]


def without_replaced(rows: Sequence[DocumentRow]) -> tuple[DocumentRow, ...]:
    """Leave out each incomplete report that a later evaluation of the same document replaces, and keep its place."""
    newest: list[DocumentRow] = []
    for row in rows:
        place = next((place for place, earlier in enumerate(newest) if _replaces(row, earlier)), None)
        if place is None:
            newest.append(row)
        else:
            newest[place] = row
    return tuple(newest)


def _replaces(row: DocumentRow, earlier: DocumentRow) -> bool:
    return earlier.status is ShownStatus.INCOMPLETE and _identity(row) == _identity(earlier)


def _identity(row: DocumentRow) -> tuple[str | None, ...]:
    return row.title, row.file_name, row.evaluator, row.inputs_fingerprint


def summary(matrix: DocumentMatrix) -> str:
    """Return the totals in a sentence, such as "20 documents: 3 ALERT, 15 STABLE, 2 waiting."."""
    totals = matrix.totals
    noun = "evaluation" if matrix.several_evaluators else "document"
    parts = [f"{count} {status}" for status, count in totals.statuses.items()]
    parts += [
        f"{count} {words}"
        for count, words in (
            (totals.open, "running or waiting"),
            (totals.stopped, "stopped before the end"),
            (totals.unread, "not read"),
            (totals.missing, "not handed over"),
        )
        if count
    ]
    return f"{pluralize(totals.planned, noun)}: {', '.join(parts) or 'none yet'}."
