"""`byop run`: a frozen AI output, evaluated with a playbook."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from salvo.cli.byop.signing_option import read_key, sealed, sign_option
from salvo.cli.console import ProgressLine
from salvo.errors import UsageError

if TYPE_CHECKING:
    from salvo.cli.byop.evaluation_session import EvaluationJob
    from salvo.cli.byop.lazy_store import LazyStore
    from salvo.playbooks.evaluate.inputs import Inputs
    from salvo.playbooks.evaluate.request import EvaluationRequest
    from salvo.playbooks.evaluate.session import EvaluatorConfig
    from salvo.playbooks.playbook.schema import Playbook
    from salvo.playbooks.report.report import Report, ReportFile

FILE = click.Path(path_type=Path)


@click.command
@click.argument("output_file", required=False, metavar="[OUTPUT_FILE|-]")
@click.option("--source", type=FILE, help="The document that the AI was asked about.")
@click.option("--prompt", type=FILE, help="The prompt that the AI was given.")
@click.option("--system", type=FILE, help="The system instructions that the AI had.")
@click.option("--playbook", default="ai_plugin_observability_v1", show_default=True, help="An id, or a file.")
@click.option("--mode", type=click.Choice(["full", "screening"]), default="full", show_default=True)
@click.option("--runs", type=click.IntRange(min=1), help="How often each check is judged; at least 3 in full mode.")
@click.option(
    "--evaluator",
    "evaluators",
    multiple=True,
    help="rules, or a model such as anthropic/claude-sonnet-4-6; several may be named. [default: by the keys that are "
    "set, else rules]",
)
@click.option("--base-url", help="Where a server compatible with the evaluator's provider listens.")
@click.option("--key-variable", metavar="NAME", help="The environment variable that holds the key for --base-url.")
@click.option("--subject", default="default", show_default=True, help="The series that this text belongs to.")
@click.option("--producer", help="The AI that wrote the text, as provider/model or any name.")
@click.option("--save-baseline", is_flag=True, help="Save the report as the baseline of its subject.")
@click.option("--fail-on", type=click.Choice(["alert", "review", "observe"]), default="review", show_default=True)
@sign_option
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=FILE,
    help="Also write a file: .json, .html, .md or .xml (JUnit).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout; everything else goes to stderr.")
@click.option("--no-store", is_flag=True, help="Keep nothing; there is no drift and no replay then.")
@click.option("--hashes-only", is_flag=True, help="Store fingerprints and verdicts, and none of the texts.")
@click.option("--resume", metavar="ID", help="Ask what an interrupted evaluation has no vote on yet.")
@click.option("-j", "--concurrency", type=click.IntRange(min=1), default=16, show_default=True, help="Calls at once.")
def run(
    output_file: str | None,
    source: Path | None,
    prompt: Path | None,
    system: Path | None,
    playbook: str,
    mode: str,
    runs: int | None,
    evaluators: tuple[str, ...],
    base_url: str | None,
    key_variable: str | None,
    subject: str,
    producer: str | None,
    save_baseline: bool,
    fail_on: str,
    signing_key: Path | None,
    outputs: tuple[Path, ...],
    as_json: bool,
    no_store: bool,
    hashes_only: bool,
    resume: str | None,
    concurrency: int,
) -> None:
    """Evaluate a frozen AI output with a playbook.

    It is never legal advice. OUTPUT_FILE holds what the AI wrote; - reads it from standard input. Exits 0 for STABLE
    and OBSERVE, 1 for REVIEW and ALERT (--fail-on), 2 on bad usage or input, 3 when something could not be judged, 130
    when interrupted: what was judged is kept, and --resume goes on.
    """
    import gc

    gc.disable()  # loading modules makes no garbage, and looking for it takes a tenth longer
    from salvo.cli.byop import input_files
    from salvo.cli.byop.evaluation_session import EvaluationJob, EvaluationSession
    from salvo.cli.byop.lazy_store import LazyStore
    from salvo.playbooks.playbook import library
    from salvo.playbooks.report import export

    if (output_file is None) == (resume is None):
        raise click.UsageError("Give the file with the AI output, - for standard input, or --resume ID.")
    _refuse_contradictions(mode, save_baseline=save_baseline, no_store=no_store, hashes_only=hashes_only)
    for output in outputs:
        export.check(output)
    key = read_key(signing_key)
    place = None if no_store else click.get_current_context().with_resource(LazyStore(hashes_only=hashes_only))
    if resume is not None:
        _refuse_beside_resume(click.get_current_context())
        jobs = [_resumed(resume, place, base_url, key_variable)]
    else:
        chosen = library.find(playbook)
        inputs = input_files.inputs(output_file or "-", source, prompt, system)
        desks = _desks(evaluators, base_url, key_variable)
        jobs = [EvaluationJob(desk, _order(desk, chosen, inputs, mode, runs, subject, producer)) for desk in desks]
    evaluating = EvaluationSession(jobs, place, ProgressLine())
    finished = evaluating.execute(concurrency)
    files_made = [sealed(report, key) for report in finished.reports]
    several = len(jobs) > 1
    _show(files_made, as_json=as_json, several=several)
    for line in finished.told:
        click.echo(line, err=True)
    exports = _write(outputs, files_made, jobs[0].order.inputs, several=several)
    if place is not None and finished.kept:
        _keep(finished.kept, exports, place, save_baseline=save_baseline)
    raise SystemExit(finished.exit_code(fail_on))


def _refuse_contradictions(mode: str, *, save_baseline: bool, no_store: bool, hashes_only: bool) -> None:
    """Before anything is asked or paid for."""
    if no_store and (save_baseline or hashes_only):
        raise click.UsageError("--no-store keeps nothing, so there is nothing to save and no hash to store.")
    if save_baseline and mode == "screening":
        raise click.UsageError("A screening is not comparable over time, so it is never a baseline.")


_OF_AN_ORDER = ("source", "prompt", "system", "playbook", "mode", "runs", "evaluators", "subject", "producer")
"""What an evaluation is begun with, and keeps."""


def _refuse_beside_resume(given: click.Context) -> None:
    said = [name for name in _OF_AN_ORDER if given.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if said:
        options = ", ".join(f"--{name.removesuffix('s') if name == 'evaluators' else name}" for name in said)
        raise click.UsageError(f"--resume goes on with an evaluation as it was begun: leave out {options}.")


def _desks(evaluators: Sequence[str], base_url: str | None, key_variable: str | None) -> list[EvaluatorConfig]:
    """Each evaluator once, and with its key: what is missing is said before anything is sent."""
    from salvo.cli.byop.evaluation_session import key_in
    from salvo.playbooks.evaluate.session import EvaluatorConfig, default_evaluator

    key = key_in(key_variable)
    names = dict.fromkeys(evaluators or [default_evaluator(os.environ)])
    # Beside a model the rules need no address; alone they are told one by mistake, and Desk.check says so.
    desks = [
        EvaluatorConfig(name)
        if name == "rules" and len(names) > 1
        else EvaluatorConfig(name, base_url=base_url, key=key)
        for name in names
    ]
    for desk in desks:
        desk.check()
    return desks


def _order(
    desk: EvaluatorConfig,
    playbook: Playbook,
    inputs: Inputs,
    mode: str,
    runs: int | None,
    subject: str,
    producer: str | None,
) -> EvaluationRequest:
    from salvo.playbooks.enums import Mode
    from salvo.playbooks.evaluate.request import new_request

    return new_request(
        report_id=desk.clock.new_id(),
        playbook=playbook,
        inputs=inputs,
        evaluator=desk.name,
        mode=Mode(mode),
        runs=runs,
        subject=subject,
        producer=producer,
    )


def _resumed(asked: str, place: LazyStore | None, base_url: str | None, key_variable: str | None) -> EvaluationJob:
    """What has no vote yet. A report that is incomplete stays as it is: a new one takes over the votes it had."""
    from dataclasses import replace

    from salvo.cli.byop.evaluation_session import EvaluationJob, key_in
    from salvo.playbooks.evaluate.request import stored_request
    from salvo.playbooks.evaluate.session import EvaluatorConfig

    if place is None:
        raise click.UsageError("--resume goes on with what is stored, so it cannot be combined with --no-store.")
    store = place.store()
    stored = store.load(store.find(asked))
    place.group = stored.group
    order = stored_request(stored)
    desk = EvaluatorConfig(stored.evaluator, base_url=base_url, key=key_in(key_variable))
    desk.check()
    votes = [vote for _, vote in store.votes(stored.id) if vote.answer.result is not None]
    if stored.report is None:
        store.resume(stored.id)
        return EvaluationJob(desk, order, votes, already_stored=True)
    if not stored.report.incomplete:
        raise UsageError(f"The evaluation {stored.id} is complete: there is nothing to resume.")
    return EvaluationJob(desk, replace(order, report_id=desk.clock.new_id()), votes)


def _show(files: Sequence[ReportFile], *, as_json: bool, several: bool) -> None:
    from salvo.playbooks.report import terminal
    from salvo.playbooks.report.export import json

    reports = [file.byop_report for file in files]
    if as_json and several:
        click.echo(json.render_all(files), nl=False)
    for file in files:
        if as_json and not several:
            click.echo(json.render(file), nl=False)
        elif not as_json:
            width = shutil.get_terminal_size().columns
            click.echo("\n".join(terminal.lines(file.byop_report, colour=True, width=width)))
    if len(reports) > 1 and not as_json:
        click.echo("\n".join(terminal.agreement(reports, colour=True)))


class _Export(NamedTuple):
    report_id: str
    form: str
    content: bytes


def _write(outputs: Sequence[Path], files: Sequence[ReportFile], inputs: Inputs, *, several: bool) -> list[_Export]:
    """Each file in each form; with several evaluators, the evaluator is in the file's name."""
    from salvo.playbooks.report import export

    written = []
    for output in outputs:
        for file in files:
            report = file.byop_report
            who = f"-{report.evaluator.replace('/', '-')}" if several else ""
            target = output.with_name(f"{output.stem}{who}{output.suffix}")
            content = export.write(target, file, inputs)
            written.append(_Export(report.report_id, target.suffix[1:].lower(), content))
            click.echo(f"Written: {target}", err=True)
    return written


def _keep(kept: Sequence[Report], exports: Sequence[_Export], place: LazyStore, *, save_baseline: bool) -> None:
    """What belongs to the reports that are stored; last of all, because whatever was paid for is out by now."""
    store = place.store()
    click.echo(f"Stored in {store.place}", err=True)
    stored = {report.report_id for report in kept}
    for export in exports:
        if export.report_id in stored:
            store.record_export(*export)
    for report in kept if save_baseline else ():
        if report.incomplete:
            click.echo(f"{report.report_id} is incomplete, so it was not saved as a baseline.", err=True)
            continue
        store.set_baseline(report.report_id)
        click.echo(f"Saved as the baseline of the subject “{report.subject}”: {report.report_id}", err=True)
