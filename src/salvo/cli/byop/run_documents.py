"""The body of `byop run` for several documents: evaluate them all, then print and write their matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from salvo.cli.byop.document_files import DocumentFile, find_documents
from salvo.cli.byop.document_session import DocumentOutcome, evaluate_documents
from salvo.cli.byop.evaluation_session import EvaluationJob, destination_notice
from salvo.cli.byop.evaluator_configs import ServerOptions
from salvo.cli.byop.lazy_store import LazyStore
from salvo.cli.byop.resumed_job import resumed_job
from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pool import PoolStopped
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.unicode_escape import printable
from salvo.errors import InputError, NotReplayableError, SalvoError, UsageError
from salvo.playbooks.documents import matrix_files, terminal
from salvo.playbooks.documents.matrix import (
    UNTITLED,
    DocumentBatch,
    DocumentMatrix,
    DocumentRow,
    UnreadDocument,
)
from salvo.playbooks.enums import ShownStatus, Status, shown_status
from salvo.playbooks.evaluate.inputs import Inputs, SourceFile
from salvo.playbooks.evaluate.request import EvaluationRequest
from salvo.playbooks.evaluate.session import EvaluatorConfig
from salvo.playbooks.report.report import Report
from salvo.playbooks.store.records import State
from salvo.records import record

MakeRequest: TypeAlias = Callable[[str, str, Inputs, SourceFile | None, str | None], EvaluationRequest]
"""From the id of the report, the name of the evaluator, the texts, the file of the AI output, and the title."""


@record
class BatchOutput:
    """What the command shows and writes of the matrix."""

    outputs: Sequence[Path]
    as_json: bool
    fail_on: Status
    concurrency: int

    def check(self) -> None:
        """Raise a UsageError for a file of an unknown format. Call this before anything is paid for."""
        for path in self.outputs:
            matrix_files.check(path)


def run(
    arguments: Sequence[str],
    configs: Sequence[EvaluatorConfig],
    read_inputs: Callable[[Path], tuple[Inputs, SourceFile | None]],
    make_request: MakeRequest,
    subject: str,
    lazy_store: LazyStore | None,
    output: BatchOutput,
) -> ExitCode:
    """Evaluate the files and the documents in the folders, with each evaluator."""
    clock = configs[0].clock
    batch_id = clock.new_id()  # before the ids of its evaluations, which sort after it
    files = find_documents(arguments)
    documents, failures = _read(files, read_inputs)
    jobs = [
        EvaluationJob(config, make_request(clock.new_id(), config.name, inputs, file, document.title))
        for document, inputs, file in documents
        for config in configs
    ]
    planned = len(jobs) + len(failures)
    batch = DocumentBatch(batch_id, _now(clock), _title(arguments, files), subject, planned, tuple(failures))
    return _evaluate(batch, jobs, lazy_store, output)


def resume(
    batch_id: str,
    lazy_store: LazyStore,
    server: ServerOptions,
    output: BatchOutput,
) -> ExitCode:
    """Continue every document of a batch that ended without all of its votes."""
    matrix = lazy_store.store().batches.matrix(batch_id)
    stopped = [row for row in matrix.rows if row.is_resumable]
    running = sum(row.is_open for row in matrix.rows)
    if running:
        echo(f"{pluralize(running, 'document')} of the batch run or wait in another process.", err=True)
    jobs = []
    for row in stopped:
        try:
            jobs.append(resumed_job(row.evaluation_id, lazy_store, server))
        except NotReplayableError as error:
            echo(f"{printable(row.title)} cannot be resumed. {error.message}", err=True)
    if not jobs:
        raise UsageError(
            f"No document of the batch {batch_id} can be resumed.", hint=f"`byop batch {batch_id}` lists them."
        )
    return _evaluate(matrix.batch, jobs, lazy_store, output, is_new=False)


def _read(
    files: Sequence[DocumentFile], read_inputs: Callable[[Path], tuple[Inputs, SourceFile | None]]
) -> tuple[list[tuple[DocumentFile, Inputs, SourceFile | None]], list[UnreadDocument]]:
    """Return the documents with their texts, and those that could not be read. InputError if none could be."""
    documents, failures = [], []
    for document in files:
        try:
            documents.append((document, *read_inputs(document.path)))
        except InputError as error:
            # Without the folder, which is nobody's business who gets the matrix.
            message = (
                str(error).removeprefix(f"{document.path} was not read. ").replace(str(document.path), document.name)
            )
            failures.append(UnreadDocument(document.name, message))
            echo(f"{printable(document.name)} was not read. {printable(message)}", err=True)
    if not documents:
        raise InputError("None of the documents could be read.", hint="Nothing was run, and nothing was spent.")
    return documents, failures


def _evaluate(
    batch: DocumentBatch,
    jobs: Sequence[EvaluationJob],
    lazy_store: LazyStore | None,
    output: BatchOutput,
    *,
    is_new: bool = True,
) -> ExitCode:
    for notice in dict.fromkeys(map(destination_notice, jobs)):
        echo(notice, err=True)
    if lazy_store is not None:
        jobs = _store_all(batch, jobs, lazy_store, is_new=is_new)
        echo(f"{pluralize(len(jobs), 'document')} stored as batch {batch.id} in {lazy_store.store().place}", err=True)
    results = evaluate_documents(jobs, [_job_title(job) for job in jobs], lazy_store, output.concurrency)
    matrix = _matrix(batch, results.outcomes, lazy_store)
    if output.as_json:
        echo_json(matrix_files.render_json(matrix))
    else:
        echo("\n".join(terminal.lines(matrix, colour=True)))
    for path in output.outputs:
        matrix_files.write_matrix(path, matrix)
        echo(f"Written: {path}", err=True)
    for notice in _notices(matrix, results.outcomes, lazy_store):
        echo(notice, err=True)
    return exit_code(matrix, output.fail_on, interrupted=results.interrupted)


def _store_all(
    batch: DocumentBatch, jobs: Sequence[EvaluationJob], lazy_store: LazyStore, *, is_new: bool
) -> list[EvaluationJob]:
    """Store every request before the first call: what is in the store is not lost with this process."""
    store = lazy_store.store()
    lazy_store.group = batch.id
    if is_new:
        store.batches.create(batch)
    stored = []
    for job in jobs:
        if not job.already_stored:
            lazy_store.recorder(job.config.settings).start(job.request, job.earlier_votes)
        stored.append(replace(job, already_stored=True))
    return stored


def _matrix(batch: DocumentBatch, outcomes: Sequence[DocumentOutcome], lazy_store: LazyStore | None) -> DocumentMatrix:
    """Return what the store has. What could not be stored is added, because it was paid for."""
    if lazy_store is None:
        playbooks = {outcome.job.request.playbook.logic_hash: outcome.job.request.playbook for outcome in outcomes}
        return DocumentMatrix.judged_by(list(playbooks.values()), batch, tuple(map(_row, outcomes)))
    stored = lazy_store.store().batches.matrix(batch.id)
    unstored = {outcome.job.request.report_id: _row(outcome) for outcome in outcomes if outcome.store_error}
    return replace(stored, rows=tuple(unstored.get(row.evaluation_id, row) for row in stored.rows))


def _row(outcome: DocumentOutcome) -> DocumentRow:
    request, result = outcome.job.request, outcome.result
    identity = request.document_identity
    report = result.report if not isinstance(result, SalvoError) and isinstance(result.report, Report) else None
    state = State.INTERRUPTED if report is None else State.DONE
    return DocumentRow(
        evaluation_id=request.report_id,
        title=_job_title(outcome.job),
        file_name=identity.file_name if identity else None,
        evaluator=request.evaluator,
        state=State.FAILED if isinstance(result, SalvoError) else state,
        status=shown_status(report.summary.overall_status, incomplete=report.incomplete) if report else None,
        outcomes={check.check_id: check.result for check in report.check_results} if report else {},
        answered=len(request.cases) if report else len(outcome.job.earlier_votes),
        questions=len(request.cases),
        created_at=report.timestamp if report else "",
        finished_at=report.timestamp if report else None,
        problem=result.message if isinstance(result, SalvoError) else "",
        inputs_fingerprint=request.inputs.fingerprint,
    )


def _notices(matrix: DocumentMatrix, outcomes: Sequence[DocumentOutcome], lazy_store: LazyStore | None) -> list[str]:
    errors = {outcome.store_error for outcome in outcomes if outcome.store_error}
    notices = [f"This could not be stored. {error}" for error in sorted(errors)]
    unfinished = sum(row.is_resumable for row in matrix.rows)
    if not unfinished:
        return notices
    stopped = any(
        not isinstance(outcome.result, SalvoError) and isinstance(outcome.result.report, PoolStopped)
        for outcome in outcomes
    )
    what = "Interrupted." if stopped else "Votes are missing."
    is_resumable = lazy_store is not None and lazy_store.in_full
    again = f"`byop run --resume {matrix.batch.id}`" if is_resumable else "the same command"
    verb = "is" if unfinished == 1 else "are"
    return [*notices, f"{what} {pluralize(unfinished, 'document')} {verb} not finished; continue with {again}."]


def exit_code(matrix: DocumentMatrix, fail_on: Status, *, interrupted: bool = False) -> ExitCode:
    """Return the worst of all documents: interrupted, failed, not judged, or OK."""
    if interrupted:
        return ExitCode.INTERRUPTED
    complete = [row.status for row in matrix.rows if row.status not in (None, ShownStatus.INCOMPLETE)]
    if any(Status(str(status)).reaches(fail_on) for status in complete):
        return ExitCode.FAILED
    is_complete = len(complete) == len(matrix.rows) and not matrix.batch.unread
    return ExitCode.OK if is_complete else ExitCode.NOT_JUDGED


def _job_title(job: EvaluationJob) -> str:
    identity = job.request.document_identity
    return (identity and (identity.title or identity.file_name)) or UNTITLED


def _title(arguments: Sequence[str], files: Sequence[DocumentFile]) -> str:
    """Return a name for the batch: that of the folder, or how many documents there are."""
    if len(arguments) == 1:
        return Path(arguments[0]).resolve().name or str(Path(arguments[0]))
    return pluralize(len(files), "document")


def _now(clock: Clock) -> str:
    return clock.now().isoformat(timespec="milliseconds")
