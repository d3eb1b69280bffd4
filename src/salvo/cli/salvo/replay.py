"""`salvo replay`: a recorded run again, without calling anyone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from salvo.scenarios.analysis.summary import BatchSummary
    from salvo.scenarios.replay import EvaluatedAgain, RunReplay
    from salvo.scenarios.result import AgentRunResult, EvalResult
    from salvo.scenarios.store.store import RunStore
    from salvo.scenarios.workspace import Workspace


@click.command
@click.argument("run_id", default="latest")
@click.option("--re-eval", is_flag=True, help="Evaluate again, under the present scenario file, at no cost.")
@click.option("--scenario", type=click.Path(path_type=Path), help="With --re-eval: another scenario file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def replay(run_id: str, re_eval: bool, scenario: Path | None, as_json: bool) -> None:
    """Replay a recorded run: the same agent code, no network, no tool executed, no key.

    A program (adapter: command) is started again, on the recorded answers of its models; its tools are its own.

    RUN_ID is any unique prefix of a run's id, or latest; with --re-eval also a batch's. Exits 0 when the replay is
    identical and 1 when it diverges; with --re-eval by the run's verdict, or the batch's, as salvo run does.
    """
    import asyncio

    from salvo.scenarios.spec.project import Project
    from salvo.scenarios.workspace import Workspace

    workshop = Workspace(Project.find(Path.cwd()))
    if re_eval or scenario is not None:
        code = asyncio.run(_evaluate_again(workshop, run_id, scenario, as_json=as_json))
    else:
        code = asyncio.run(_replay(workshop, run_id, as_json=as_json))
    raise SystemExit(code)


async def _replay(workshop: Workspace, run_id: str, *, as_json: bool) -> ExitCode:
    replayer = workshop.replayer()
    replayed = await replayer.replay(replayer.store.find_run(run_id))
    click.echo(_json(replayed) if as_json else "\n".join(_shown(replayed)))
    return ExitCode.OK if replayed.identical else ExitCode.FAILED


def _shown(replayed: RunReplay) -> list[str]:
    from salvo.scenarios.report.terminal import run_in_full

    lines = run_in_full(replayed.result or replayed.stored, colour=True)
    lines += ["", *(f"Note: {warning}" for warning in replayed.warnings)]
    if replayed.divergence:
        return [*lines, f"Diverged. {replayed.divergence}"]
    if replayed.differences:
        first, *rest = replayed.differences
        more = f" and {len(rest)} more differences" if rest else ""
        return [*lines, f"Diverged at {first.text('recorded', 'now')}{more}"]
    words = {
        "full": "Identical: the same agent code, on the recorded answers, did the same.",
        "model-only": "Identical: the program, run again on the recorded answers of its models, did the same.",
        "frozen-tools": "Identical: the same agent code, on the recorded tool results, did the same.",
        "reconstructed": "Reconstructed from what was stored; the agent was not called.",
    }
    return [*lines, words[replayed.mode]]


def _json(replayed: RunReplay) -> str:
    from salvo.engine.jsonio import json_codec

    document = {
        "run_id": replayed.stored.run_id,
        "mode": replayed.mode,
        "identical": replayed.identical,
        "divergence": replayed.divergence or None,
        "differences": [difference._asdict() for difference in replayed.differences],
        "warnings": replayed.warnings,
        "result": replayed.result,
    }
    return json_codec.dumps(document, indent=2).decode()


async def _evaluate_again(workshop: Workspace, wanted: str, file: Path | None, *, as_json: bool) -> ExitCode:
    from salvo.errors import NothingFoundError

    replayer = workshop.replayer()
    batch_id = _batch_named(replayer.store, wanted)
    store = replayer.store
    run_ids = [store.find_run(wanted)] if batch_id is None else store.batch_run_ids(batch_id)
    if not run_ids:
        raise NothingFoundError(f"The batch {batch_id} has no run yet.", hint=f"salvo run --resume {batch_id}")
    again = await replayer.evaluate_again(run_ids, file)
    if batch_id is None:
        return _show_run(again, as_json=as_json)
    return _show_batch(again, as_json=as_json)


def _batch_named(store: RunStore, wanted: str) -> str | None:
    """None where a run is meant: every run's id goes on where its batch's ends."""
    from salvo.errors import UnknownIdError
    from salvo.scenarios.store.store import LATEST

    try:
        return None if wanted == LATEST else store.find_batch(wanted)
    except UnknownIdError:
        return None


def _show_run(again: EvaluatedAgain, *, as_json: bool) -> ExitCode:
    [(before, after)] = again.runs
    if as_json:
        click.echo(_again_as_json(again))
    else:
        click.echo("\n".join([*(f"Note: {note}" for note in again.notes), *_compared(before, after)]))
    return {"failed": ExitCode.FAILED, "error": ExitCode.NOT_JUDGED}.get(after.outcome, ExitCode.OK)


def _show_batch(again: EvaluatedAgain, *, as_json: bool) -> ExitCode:
    """By the batch's verdict under the present scenario, beside the one that was stored."""
    from dataclasses import replace

    from salvo.cli.salvo.exit_status import batch_exit_code
    from salvo.scenarios.analysis.summary import summarise
    from salvo.scenarios.report.terminal import verdict
    from salvo.scenarios.store.index import index_entry

    present = replace(
        again.batch,
        min_pass_rate=again.scenario.min_pass_rate,
        confidence=again.scenario.confidence,
        threshold=again.scenario.threshold,
    )
    was = summarise(again.batch, [index_entry(before) for before, _ in again.runs])
    now = summarise(present, [index_entry(after) for _, after in again.runs])
    if as_json:
        click.echo(_again_as_json(again, was=was, now=now))
        return batch_exit_code([now])
    compared = [(_compared(before, after), _verdict(before) == _verdict(after)) for before, after in again.runs]
    changed = [lines for lines, same in compared if len(lines) > 1 or not same]
    lines = [f"Note: {note}" for note in again.notes]
    lines += [line for of_run in changed for line in of_run]
    if same := len(again.runs) - len(changed):
        lines.append(f"{same} of {len(again.runs)} runs came to the same.")
    click.echo("\n".join([*lines, "", f"was  {verdict(was)}", f"is   {verdict(now)}"]))
    return batch_exit_code([now])


def _again_as_json(again: EvaluatedAgain, was: BatchSummary | None = None, now: BatchSummary | None = None) -> str:
    from salvo.engine.jsonio import json_codec

    document = {
        "batch_id": again.batch.batch_id,
        "notes": again.notes,
        "was": was,
        "is": now,
        "results": [after for _, after in again.runs],
    }
    return json_codec.dumps(document, indent=2).decode()


def _compared(before: AgentRunResult, after: AgentRunResult) -> list[str]:
    from salvo.engine.text.unicode_escape import printable

    lines = [f"{after.run_id}  was {_verdict(before)}, is {_verdict(after)}"]
    old = {key: item.passed for key, item in _told_apart(before)}
    new = dict(_told_apart(after))
    for key, item in new.items():
        if key not in old:
            lines.append(f"  {item.name}: new, {_word(item.passed)}. {item.message}".rstrip())
        elif old[key] != item.passed:
            lines.append(f"  {item.name}: was {_word(old[key])}, is {_word(item.passed)}. {item.message}".rstrip())
    lines += [f"  {name}: no longer asserted" for name, number in old if (name, number) not in new]
    return [printable(line) for line in lines] if len(lines) > 1 else [f"{lines[0]}; no assertion changed"]


def _verdict(result: AgentRunResult) -> str:
    return f"{result.outcome}" + ("" if result.weighted_score is None else f" ({result.weighted_score:.2f})")


def _told_apart(result: AgentRunResult) -> Iterator[tuple[tuple[str, int], EvalResult]]:
    """Assertions by their label and, where several share one, their order."""
    met: Counter[str] = Counter()
    for item in result.eval_results:
        yield (item.name, met[item.name]), item
        met[item.name] += 1


def _word(passed: bool | None) -> str:
    return "not judged" if passed is None else "passed" if passed else "failed"
