"""The body of `byop run`: prepare the jobs, run them, then show, write and store the reports."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click
from click.core import ParameterSource

from salvo.cli.byop.evaluation_session import EvaluationJob, EvaluationResults, run_evaluations
from salvo.cli.byop.evaluator_configs import ServerOptions, new_configs
from salvo.cli.byop.input_files import read_inputs
from salvo.cli.byop.lazy_store import LazyStore
from salvo.cli.byop.playbook_argument import find_playbook
from salvo.cli.byop.resumed_job import resumed_job
from salvo.cli.byop.signing_key import read_signing_key
from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.errors import UnknownIdError, UsageError
from salvo.playbooks.enums import Mode, Status
from salvo.playbooks.evaluate.inputs import Inputs, SourceFile
from salvo.playbooks.evaluate.request import EvaluationRequest, new_request
from salvo.playbooks.evaluate.session import EvaluatorConfig
from salvo.playbooks.report import export, labels, terminal
from salvo.playbooks.report.export import json
from salvo.playbooks.report.report import Report

if TYPE_CHECKING:
    from salvo.cli.byop.run_documents import MakeRequest
    from salvo.playbooks.audit.signing import SigningKey


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The command line of `byop run`."""

    output_files: tuple[str, ...]
    source: Path | None
    prompt: Path | None
    system: Path | None
    encoding: str | None
    playbook: str
    mode: str
    runs: int | None
    evaluators: tuple[str, ...]
    base_url: str | None
    key_variables: tuple[str, ...]
    timeout: float | None
    subject: str
    producer: str | None
    title: str | None
    reviewer: str | None
    save_baseline: bool
    fail_on: str
    signing_key: str | None
    outputs: tuple[Path, ...]
    as_json: bool
    no_store: bool
    hashes_only: bool
    batch_api: bool
    resume: str | None
    concurrency: int

    @property
    def server(self) -> ServerOptions:
        return ServerOptions(self.base_url, self.key_variables, self.timeout)

    def read(self, path: Path | str) -> tuple[Inputs, SourceFile | None]:
        return read_inputs(str(path), self.source, self.prompt, self.system, self.encoding)

    def configs(self) -> list[EvaluatorConfig]:
        return new_configs(self.evaluators, self.server)

    def open_store(self, context: click.Context) -> LazyStore | None:
        return None if self.no_store else context.with_resource(LazyStore(hashes_only=self.hashes_only))


def run(**values: Any) -> None:
    options = RunOptions(**values)
    context = click.get_current_context()
    if bool(options.output_files) == (options.resume is not None):
        raise click.UsageError("Give the file with the AI output, several files or a folder, -, or --resume ID.")
    _check_options(options)
    if options.batch_api:
        _check_batch_options(context)
    are_several = len(options.output_files) > 1 or any(Path(name).is_dir() for name in options.output_files)
    if are_several:
        raise SystemExit(_run_documents(options, lambda: options.open_store(context)))
    if options.resume is None:
        _check_outputs(options)
    key = read_signing_key(options.signing_key)
    lazy_store = options.open_store(context)
    if options.resume is not None:
        _check_resume_options(context)
        jobs = [_resumed_job(options, options.resume, lazy_store)]
    else:
        jobs = _new_jobs(options)
    _run_jobs(options, jobs, lazy_store, key)


def _run_jobs(
    options: RunOptions, jobs: Sequence[EvaluationJob], lazy_store: LazyStore | None, key: SigningKey | None
) -> NoReturn:
    """Evaluate one text, with one or several evaluators."""
    several = len(jobs) > 1
    if several and options.as_json and key is not None:
        raise UsageError(
            "What --json prints for several evaluators is not a report file, so it cannot be signed.",
            hint="Write signed files with -o instead of --json. Nothing was run, and nothing was spent.",
        )
    if options.batch_api and lazy_store is not None:
        from salvo.cli.byop import batch_evaluations  # most evaluations are made at once

        raise SystemExit(batch_evaluations.submit_evaluations(jobs, lazy_store))
    results = run_evaluations(jobs, lazy_store, options.concurrency)
    output = ReportOutput(options.outputs, options.as_json, Status(options.fail_on.upper()), options.save_baseline)
    present(results, lazy_store, output, key)
    raise SystemExit(results.exit_code(options.fail_on))


class ReportOutput(NamedTuple):
    """What becomes of the reports of a command."""

    files: tuple[Path, ...]
    as_json: bool
    fail_on: Status
    save_baseline: bool


def present(
    results: EvaluationResults, lazy_store: LazyStore | None, output: ReportOutput, key: SigningKey | None
) -> None:
    """Show the reports, and write and record them. `byop collect` calls this, too."""
    several = len(results.jobs) > 1
    _show(results, key, as_json=output.as_json, several=several)
    for notice in results.notices:
        echo(notice, err=True)
    inputs = results.jobs[0].request.inputs
    exports = _write(output.files, results, inputs, key, output.fail_on, several=several)
    if lazy_store is not None and results.stored_reports:
        _record(results.stored_reports, exports, lazy_store, save_baseline=output.save_baseline)


def _new_jobs(options: RunOptions) -> list[EvaluationJob]:
    make_request = _request_maker(options)
    inputs, file = options.read(options.output_files[0])
    title = PurePath(file.name).stem if file else None
    return [
        EvaluationJob(config, make_request(config.clock.new_id(), config.name, inputs, file, title))
        for config in options.configs()
    ]


def _request_maker(options: RunOptions) -> MakeRequest:
    playbook = find_playbook(options.playbook)

    def make_request(
        report_id: str, evaluator: str, inputs: Inputs, file: SourceFile | None, file_title: str | None
    ) -> EvaluationRequest:
        return new_request(
            report_id=report_id,
            playbook=playbook,
            inputs=inputs,
            evaluator=evaluator,
            mode=Mode(options.mode),
            runs=options.runs,
            subject=options.subject,
            producer=options.producer,
            title=options.title or file_title,
            reviewer=options.reviewer,
            file=file,
        )

    return make_request


def _run_documents(
    options: RunOptions, open_store: Callable[[], LazyStore | None], resumed_batch: str | None = None
) -> ExitCode:
    """Evaluate several documents, or continue a batch of them."""
    _check_documents_options(options)
    from salvo.cli.byop import run_documents  # not for one document, which need not wait for it

    output = run_documents.BatchOutput(
        options.outputs, options.as_json, Status(options.fail_on.upper()), options.concurrency
    )
    output.check()
    lazy_store = open_store()
    if resumed_batch is not None and lazy_store is not None:
        return run_documents.resume(resumed_batch, lazy_store, options.server, output)
    return run_documents.run(
        options.output_files,
        options.configs(),
        options.read,
        _request_maker(options),
        options.subject,
        lazy_store,
        output,
    )


def _resumed_job(options: RunOptions, text: str, lazy_store: LazyStore | None) -> EvaluationJob:
    """Return the job of the evaluation whose id begins with the text. If it is a batch of documents, run it."""
    if lazy_store is None:
        raise click.UsageError("--resume cannot be combined with --no-store: it continues a stored evaluation.")
    evaluation_id, batch_id = _find_resumed(text, lazy_store)
    if batch_id is not None:
        raise SystemExit(_run_documents(options, lambda: lazy_store, batch_id))
    _check_outputs(options)
    return resumed_job(evaluation_id, lazy_store, options.server)


def _check_options(options: RunOptions) -> None:
    if options.no_store and (options.save_baseline or options.hashes_only):
        raise click.UsageError("--no-store cannot be combined with --save-baseline or --hashes-only.")
    if options.save_baseline and options.mode == "screening":
        raise click.UsageError("A screening cannot be a baseline, because it is not comparable over time.")


def _check_batch_options(context: click.Context) -> None:
    """Refuse what needs the report at once, or a store that has no texts."""
    files = context.params.get("output_files") or ()
    if len(files) > 1 or any(Path(name).is_dir() for name in files):
        raise click.UsageError("--batch-api is for one document.")
    refused = ("no_store", "hashes_only", "resume", "outputs", "as_json", "save_baseline", "signing_key")
    if names := [name for name in refused if context.params.get(name)]:
        option = {"outputs": "-o", "as_json": "--json", "signing_key": "--sign"}.get(
            names[0], f"--{names[0].replace('_', '-')}"
        )
        raise click.UsageError(
            f"With --batch-api the report comes later: omit {option}. `byop collect` and `byop show` write files, and "
            "`byop baseline` saves a baseline."
        )


def _check_outputs(options: RunOptions) -> None:
    for output in options.outputs:
        export.check(output)


def _check_documents_options(options: RunOptions) -> None:
    """Raise UsageError for options that are about one report."""
    refused = {
        "--title": options.title is not None,
        "--save-baseline": options.save_baseline,
        "--sign": options.signing_key is not None,
    }
    if names := [name for name, is_given in refused.items() if is_given]:
        raise UsageError(
            f"{' and '.join(names)} cannot be used for several documents.",
            hint="Evaluate them, and then use `byop baseline` or `byop show ID -o FILE --sign` for single reports.",
        )


def _find_resumed(text: str, lazy_store: LazyStore) -> tuple[str, str | None]:
    """Return the id of the evaluation that begins with the text, or else that of the batch of documents."""
    store = lazy_store.store()
    if store.batches.exists(text):
        return "", text
    try:
        return store.find(text), None
    except UnknownIdError:
        batch_id = store.batches.find(text)
        if batch_id is None:
            raise
        return "", batch_id


_REQUEST_OPTIONS = (
    "source",
    "prompt",
    "system",
    "encoding",
    "playbook",
    "mode",
    "runs",
    "evaluators",
    "subject",
    "producer",
    "title",
    "reviewer",
)
"""What an evaluation is started with and keeps."""


def _check_resume_options(context: click.Context) -> None:
    names = [name for name in _REQUEST_OPTIONS if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if names:
        options = ", ".join(f"--{'evaluator' if name == 'evaluators' else name}" for name in names)
        raise click.UsageError(f"--resume continues an evaluation as it was started: omit {options}.")


def _show(results: EvaluationResults, key: SigningKey | None, *, as_json: bool, several: bool) -> None:
    reports = results.reports
    if as_json:
        if several:
            echo_json(json.render_all(reports, results.labels))
        for report in () if several else reports:
            echo_json(export.signed_json(report, key))
        return
    width = shutil.get_terminal_size().columns
    for report in reports:
        echo("\n".join(terminal.lines(report, colour=True, width=width)))
    if len(reports) > 1:
        echo("\n".join(terminal.agreement(reports, results.labels, colour=True)))


class _Export(NamedTuple):
    report_id: str
    form: str
    content: bytes


def _write(
    outputs: Sequence[Path],
    results: EvaluationResults,
    inputs: Inputs,
    key: SigningKey | None,
    fail_on: Status,
    *,
    several: bool,
) -> list[_Export]:
    """Write every report in every format. With several evaluators, their names are part of the file names."""
    exports = []
    for output in outputs:
        for report, label in zip(results.reports, results.labels, strict=True):
            suffix = "-" + re.sub(r"[^\w.-]", "-", label) if several else ""
            path = output.with_name(f"{output.stem}{suffix}{output.suffix}")
            content = export.write(path, report, inputs, key, fail_on=fail_on)
            exports.append(_Export(report.report_id, path.suffix[1:].lower(), content))
            echo(f"Written: {path}", err=True)
    return exports


def _record(
    reports: Sequence[Report], exports: Sequence[_Export], lazy_store: LazyStore, *, save_baseline: bool
) -> None:
    """Record exports and baselines. This is last, because it may fail after the reports were paid for."""
    store = lazy_store.store()
    echo(f"Stored in {store.place}", err=True)
    report_ids = {report.report_id for report in reports}
    for exported in exports:
        if exported.report_id in report_ids:
            store.record_export(*exported)
    for report in reports if save_baseline else ():
        if report.incomplete:
            echo(f"{report.report_id} is incomplete, so it was not saved as a baseline.", err=True)
            continue
        store.set_baseline(report.report_id)
        echo(labels.baseline_saved(report.report_id, report.subject), err=True)
