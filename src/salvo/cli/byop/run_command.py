"""The body of `byop run`: prepare the jobs, run them, then show, write and store the reports."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from salvo.cli.byop.baseline import baseline_notice
from salvo.cli.byop.evaluation_session import EvaluationJob, EvaluationResults, run_evaluations
from salvo.cli.byop.evaluator_configs import new_configs, stored_config
from salvo.cli.byop.lazy_store import LazyStore
from salvo.cli.byop.signing_option import read_signing_key
from salvo.cli.output import echo, echo_json
from salvo.engine.runtime.files import read_up_to
from salvo.errors import InputError, NotUtf8Error, UsageError
from salvo.playbooks.enums import Mode, Status
from salvo.playbooks.evaluate.inputs import NAMES, Inputs, SourceFile, key_warnings
from salvo.playbooks.evaluate.request import new_request, stored_request
from salvo.playbooks.evaluate.text_files import WINDOWS_1252, FileText, read_text_file
from salvo.playbooks.playbook import library
from salvo.playbooks.report import export, terminal
from salvo.playbooks.report.export import json
from salvo.playbooks.report.report import Report

if TYPE_CHECKING:
    from salvo.playbooks.audit.signing import SigningKey

_MAX_BYTES = 20 * 1024 * 1024


def run(
    output_file: str | None,
    source: Path | None,
    prompt: Path | None,
    system: Path | None,
    encoding: str | None,
    playbook: str,
    mode: str,
    runs: int | None,
    evaluators: tuple[str, ...],
    base_url: str | None,
    key_variables: tuple[str, ...],
    timeout: float | None,
    subject: str,
    producer: str | None,
    title: str | None,
    reviewer: str | None,
    save_baseline: bool,
    fail_on: str,
    signing_key: str | None,
    outputs: tuple[Path, ...],
    as_json: bool,
    no_store: bool,
    hashes_only: bool,
    resume: str | None,
    concurrency: int,
) -> None:
    context = click.get_current_context()
    if (output_file is None) == (resume is None):
        raise click.UsageError("Give the file with the AI output, - for standard input, or --resume ID.")
    _check_options(mode, save_baseline=save_baseline, no_store=no_store, hashes_only=hashes_only)
    for output in outputs:
        export.check(output)
    key = read_signing_key(signing_key)
    lazy_store = None if no_store else context.with_resource(LazyStore(hashes_only=hashes_only))
    if resume is not None:
        _check_resume_options(context)
        jobs = [_resumed_job(resume, lazy_store, base_url, key_variables, timeout)]
    else:
        chosen_playbook = library.find(playbook)
        inputs, file = _read_inputs(output_file or "-", source, prompt, system, encoding)
        jobs = [
            EvaluationJob(
                config,
                new_request(
                    report_id=config.clock.new_id(),
                    playbook=chosen_playbook,
                    inputs=inputs,
                    evaluator=config.name,
                    mode=Mode(mode),
                    runs=runs,
                    subject=subject,
                    producer=producer,
                    title=title or (PurePath(file.name).stem if file else None),
                    reviewer=reviewer,
                    file=file,
                ),
            )
            for config in new_configs(evaluators, base_url, key_variables, timeout)
        ]
    if len(jobs) > 1 and as_json and key is not None:
        raise UsageError(
            "What --json prints for several evaluators is not a report file, so it cannot be signed.",
            hint="Write signed files with -o instead of --json. Nothing was run, and nothing was spent.",
        )
    results = run_evaluations(jobs, lazy_store, concurrency)
    several = len(jobs) > 1
    _show(results, key, as_json=as_json, several=several)
    for notice in results.notices:
        echo(notice, err=True)
    exports = _write(outputs, results, jobs[0].request.inputs, key, Status(fail_on.upper()), several=several)
    if lazy_store is not None and results.stored_reports:
        _record(results.stored_reports, exports, lazy_store, save_baseline=save_baseline)
    raise SystemExit(results.exit_code(fail_on))


def _check_options(mode: str, *, save_baseline: bool, no_store: bool, hashes_only: bool) -> None:
    if no_store and (save_baseline or hashes_only):
        raise click.UsageError("--no-store cannot be combined with --save-baseline or --hashes-only.")
    if save_baseline and mode == "screening":
        raise click.UsageError("A screening cannot be a baseline, because it is not comparable over time.")


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


def _read_inputs(
    output_file: str, source: Path | None, prompt: Path | None, system: Path | None, encoding: str | None
) -> tuple[Inputs, SourceFile | None]:
    """Return the texts to evaluate and the file of the AI output, and warn of credentials in them.

    The output file "-" is standard input, which is no file.
    """
    paths = (None if output_file == "-" else Path(output_file), source, prompt, system)
    files = {
        name: _read(path, encoding)
        for name, path in zip(NAMES, paths, strict=True)
        if path is not None or name == "ai_output"
    }
    texts = {name: file.text for name, file in files.items()}
    file_names = dict(zip(NAMES, paths, strict=True))
    sources = {name: file.source(str(file_names[name] or "")) for name, file in files.items()}
    inputs = Inputs.from_texts(**texts, files=sources)
    for file in files.values():
        for notice in file.notices:
            echo(f"Notice: {notice}", err=True)
    # Not those of the inputs: a warning names lines of the files.
    for warning in key_warnings(texts):
        echo(f"Warning: {warning}", err=True)
    return inputs, None if output_file == "-" else sources["ai_output"]


def _read(path: Path | None, encoding: str | None) -> FileText:
    """Return the text of a file, or of standard input if there is no path."""
    name = "Standard input" if path is None else str(path)
    content = sys.stdin.buffer.read(_MAX_BYTES + 1) if path is None else read_up_to(path, _MAX_BYTES)
    if len(content) > _MAX_BYTES:
        raise InputError(f"{name} is larger than {_MAX_BYTES // 1024**2} MB.", hint="Evaluate it in parts.")
    try:
        return read_text_file(name, content, encoding=encoding)
    except NotUtf8Error as error:
        hint = f"If that is right, add --encoding {WINDOWS_1252}. Otherwise save it as UTF-8 and try again."
        raise InputError(error.message, hint=hint) from error


def _resumed_job(
    evaluation_id: str,
    lazy_store: LazyStore | None,
    base_url: str | None,
    key_variables: Sequence[str],
    timeout: float | None,
) -> EvaluationJob:
    """Return a job for the unanswered questions. An incomplete report stays; a new one takes over its votes."""
    if lazy_store is None:
        raise click.UsageError("--resume cannot be combined with --no-store: it continues a stored evaluation.")
    store = lazy_store.store()
    stored = store.load(store.find(evaluation_id))
    lazy_store.group = stored.group
    request = stored_request(stored)
    config = stored_config(stored, base_url, key_variables, timeout)
    votes = [vote for _, vote in store.votes(stored.id) if vote.answer.result is not None]
    if stored.report is None:
        store.resume(stored.id)
        return EvaluationJob(config, request, votes, already_stored=True)
    if not stored.report.incomplete:
        raise UsageError(f"The evaluation {stored.id} is complete: there is nothing to resume.")
    return EvaluationJob(config, replace(request, report_id=config.clock.new_id()), votes)


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
        echo(baseline_notice(report.report_id, report.subject), err=True)
