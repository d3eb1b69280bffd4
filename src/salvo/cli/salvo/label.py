"""`salvo label`: people label judged runs, and the pass rate is corrected by their labels."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from pathlib import Path

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import ask, echo, echo_json, read_key
from salvo.cli.param_types import FILE_PATH
from salvo.cli.salvo.store_option import store_option
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import SystemClock
from salvo.engine.runtime.files import write_document
from salvo.engine.stats.agreement_wording import drop_sentence, pair_sentence, quality_rows
from salvo.engine.text.formatting import pluralize
from salvo.engine.text.terminal import Paint, table
from salvo.engine.text.unicode_escape import printable
from salvo.errors import InputError, UsageError
from salvo.scenarios.labels import label_files, sentences
from salvo.scenarios.labels.batch_labels import BatchLabels, NextQuestion
from salvo.scenarios.labels.label_store import LONGEST_NOTE, LabelAnswer, reviewer_name
from salvo.scenarios.labels.records import LabelEvidence
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_store

_KEYS = {"p": LabelAnswer.PASS, "f": LabelAnswer.FAIL, "u": LabelAnswer.UNCLEAR}
_HELP = "p pass   f fail   u unclear   n note   b back   q quit"
_EXIT_CODES = {"pass": ExitCode.OK, "fail": ExitCode.FAILED, "inconclusive": ExitCode.INCONCLUSIVE}


@click.command
@click.argument("batch_id", metavar="[BATCH]", default="latest")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=1, max=100_000),
    default=40,
    show_default=True,
    help="How many runs you label in all; those that you labelled before count.",
)
@click.option("--reviewer", metavar="NAME", help="Who labels. [default: the user of this system]")
@click.option(
    "--export",
    "export_file",
    metavar="FILE",
    type=FILE_PATH,
    help="Write what is to be labelled to a .csv or .jsonl file, and end.",
)
@click.option(
    "--import", "import_file", metavar="FILE", type=FILE_PATH, help="Read the answers of such a file, and end."
)
@click.option("--check", is_flag=True, help="Label nothing: show what the labels say, and exit by the verdict.")
@click.option("--json", "as_json", is_flag=True, help="With --check: print JSON.")
@store_option
def label(
    batch_id: str,
    number: int,
    reviewer: str | None,
    export_file: Path | None,
    import_file: Path | None,
    check: bool,
    as_json: bool,
    store_address: str | None,
) -> None:
    """Label judged runs yourself, and see the pass rate corrected by what the judge got wrong.

    BATCH is any unique prefix of a batch's id, latest or latest~1. You see the rubric and the transcript, never what
    the judge or another reviewer said. Runs are drawn at random within the judge's verdicts (passed, failed, split
    votes), with a seed that is stored. Every answer is stored at once, so you may stop at any time.

    Labels belong to a transcript and a rubric. They are small files in the store, worth committing. A scenario with
    `labels` passes or fails by the corrected pass rate.

    Exits 0; with --check 0 if the corrected pass rate reaches min_pass_rate, 1 if it does not, and 4 if the labels are
    too few to tell.
    """
    if sum([export_file is not None, import_file is not None, check]) > 1:
        raise click.UsageError("Use one of --export, --import and --check.")
    if as_json and not check:
        raise click.UsageError("--json goes with --check.")
    for file in filter(None, [export_file, import_file]):
        label_files.check_suffix(file)
    store = open_store(Project.find(store_address=store_address))
    batch = store.load_batch(store.find_batch(batch_id))
    labels = BatchLabels.load(store, batch)
    if check:
        raise SystemExit(_check(labels, as_json=as_json))
    clock = SystemClock()
    name = _reviewer(reviewer)
    labels.ensure_draw(clock.new_id(), clock.now().isoformat())
    if import_file is not None:
        _import(labels, import_file, name, clock)
    else:
        planned = labels.planned(name, number)
        if export_file is not None:
            write_document(export_file, label_files.question_file(export_file, planned))
            count = pluralize(len(planned), "question")
            echo(f"{export_file}: {count}. Fill in the column `answer`: pass, fail or unclear.")
            return
        if not planned:
            labelled = pluralize(labels.labelled_by(name), "run")
            echo(f"You have labelled {labelled} of this batch. Label more with a higher -n.", err=True)
        _Session(labels, planned, name, clock).run()
    echo("\n".join(_result_lines(labels)))


def _reviewer(text: str | None) -> str:
    if text is None:
        try:
            text = getpass.getuser()
        except (OSError, KeyError, ImportError):  # a user without a name
            text = ""
    name = reviewer_name(text)
    if not name:
        raise UsageError("Who labels?", hint="Name yourself: --reviewer NAME")
    return name


class _Session:
    """Questions one after another, each answered by a key."""

    def __init__(self, labels: BatchLabels, questions: list[NextQuestion], reviewer: str, clock: SystemClock) -> None:
        self._labels = labels
        self._questions = questions
        self._reviewer = reviewer
        self._clock = clock

    def run(self) -> None:
        position, note, is_shown = 0, "", False
        while position < len(self._questions):
            if not is_shown:
                echo("\n".join(self._lines(position)))
            is_shown = True
            key = read_key().lower()
            if key == "q":
                break
            if key == "n":
                note = ask("Note").strip()[:LONGEST_NOTE]
            elif key == "b":
                position, is_shown = max(0, position - 1), False
            elif key in _KEYS:
                self._save(self._questions[position], _KEYS[key], note)
                position, note, is_shown = position + 1, "", False
            else:
                echo(_HELP)

    def _save(self, item: NextQuestion, answer: LabelAnswer, note: str) -> None:
        echo(f"→ {answer}")
        at = self._clock.now().isoformat()
        self._labels.save([self._labels.new_label(item, answer, note, self._reviewer, at)])

    def _lines(self, position: int) -> Iterator[str]:
        item, paint = self._questions[position], Paint(True)
        question = item.question
        where = "" if question.turn is None else f", turn {question.turn}"
        yield ""
        yield paint(f"{position + 1} of {len(self._questions)}  {printable(question.assertion)}{where}", bold=True)
        yield from _block("rubric", question.rubric, paint)
        if question.scale:
            yield from _block("scale", question.scale, paint)
        for name, text in question.transcript.items():
            yield from _block(name.replace("_", " "), text, paint)
        yield paint("Does it meet the rubric?", bold=True) + f"  {_HELP}"


def _block(name: str, text: str, paint: Paint) -> Iterator[str]:
    yield paint(name, bold=True)
    yield from (f"  {printable(line)}" for line in text.splitlines() or [""])


def _import(labels: BatchLabels, file: Path, reviewer: str, clock: SystemClock) -> None:
    questions = labels.questions
    answers = list(label_files.read_answers(file))
    unknown = [key for key, _, _ in answers if key not in questions]
    if unknown:
        raise InputError(
            f"{file}: {pluralize(len(unknown), 'answer')} to questions that the batch {labels.batch.batch_id} does not "
            "have. Nothing was imported.",
            hint="Was the file exported from another batch, or the rubric changed since?",
        )
    items = [(questions[key], answer, note) for key, answer, note in answers]
    at = clock.now().isoformat()
    labels.save([labels.new_label(item, answer, note, reviewer, at) for item, answer, note in items])
    echo(f"{pluralize(len(items), 'label')} of {printable(reviewer)} imported.")


def _check(labels: BatchLabels, *, as_json: bool) -> ExitCode:
    evidence = labels.evidence
    if as_json:
        document = {
            "salvo_labels": 1,
            "batch_id": labels.batch.batch_id,
            "scenario_id": labels.batch.scenario_id,
            "min_pass_rate": labels.batch.min_pass_rate,
            "labels": evidence,
        }
        echo_json(json_codec.dumps(document, indent=2))
    else:
        echo("\n".join(_result_lines(labels)))
    return ExitCode.NOT_JUDGED if evidence is None else _EXIT_CODES[evidence.verdict]


def _result_lines(labels: BatchLabels) -> Iterator[str]:
    evidence, batch = labels.evidence, labels.batch
    if evidence is None:
        yield "No run was completed, so there is nothing to correct."
        return
    yield from table(("", "RUNS", "LABELLED", "PASS", "FAIL", "UNCLEAR"), sentences.stratum_rows(evidence), Paint(True))
    if evidence.decided_without_judge:
        yield f"{pluralize(evidence.decided_without_judge, 'run')} whose outcome no judge can change: not labelled."
    yield ""
    yield f"corrected pass rate  {sentences.corrected_rate(evidence, batch.min_pass_rate)}"
    yield f"verdict              {evidence.verdict}: {sentences.evidence_phrase(evidence, batch.min_pass_rate)}"
    yield from _judge_lines(evidence)
    if evidence.needed is not None:
        total = evidence.labelled + sum(evidence.needed.labels.values())
        yield f"Label them with: salvo label {batch.batch_id} -n {total}"


def _judge_lines(evidence: LabelEvidence) -> Iterator[str]:
    for judge in evidence.judges:
        if not judge.quality.labels:
            continue
        yield ""
        yield f"{printable(judge.assertion)}: the judge and people, {pluralize(judge.quality.labels, 'label')}"
        yield from (f"  {row.name:<31} {row.value}" for row in quality_rows(judge.quality))
        for verdict, runs in (("passed", judge.wrongly_passed), ("failed", judge.wrongly_failed)):
            if runs:
                more = f" and {len(runs) - 3} more" if len(runs) > 3 else ""
                yield f"  {verdict} wrongly: {', '.join(runs[:3])}{more}"
        yield from (f"  Notice: {drop_sentence(drop, verdict)}" for verdict, drop in judge.drops.items())
    for pair in evidence.reviewers:
        yield f"{pair_sentence(pair.reviewers, pair.agreement)}."
