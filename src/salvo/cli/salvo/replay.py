"""`salvo replay`: run recorded runs again without any call."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click

from salvo.cli.exit_codes import ExitCode
from salvo.cli.output import echo, echo_json
from salvo.cli.param_types import FILE_PATH
from salvo.cli.salvo.allow_env_option import allow_env_option
from salvo.cli.salvo.replay_batch import replay_runs, runs_to_replay
from salvo.cli.salvo.run_output import batch_exit_code
from salvo.cli.salvo.store_option import store_option
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime import event_loop
from salvo.engine.text.unicode_escape import printable
from salvo.errors import NothingFoundError, UnknownIdError, UsageError
from salvo.scenarios.analysis.summary import BatchSummary, summarise
from salvo.scenarios.replay import EvaluatedAgain, NamedCode, Replayer, RunReplay
from salvo.scenarios.report import labels
from salvo.scenarios.report.terminal import run_in_full, verdict
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.ids import LATEST, steps_before_latest
from salvo.scenarios.store.index import index_entry
from salvo.scenarios.store.store import RunStore
from salvo.scenarios.workspace import Workspace


@click.command
@click.argument("run_id", required=False)
@click.option("--failed", is_flag=True, help="Replay the failed runs of a batch, or of the newest command.")
@click.option("--re-eval", is_flag=True, help="Evaluate again with the current scenario file, at no cost.")
@click.option("--scenario", type=FILE_PATH, help="With --re-eval: another scenario file.")
@click.option("--source", type=FILE_PATH, help="Where the scenario file of the run is now.")
@click.option("--adapter", help="The agent's code, if the run's command named it and the scenario file does not.")
@allow_env_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def replay(
    run_id: str | None,
    failed: bool,
    re_eval: bool,
    scenario: Path | None,
    source: Path | None,
    adapter: str | None,
    allow_env: tuple[str, ...],
    as_json: bool,
    store_address: str | None,
) -> None:
    """Replay recorded runs: the same agent code, no network, no tool executed, no key.

    A recording is data: which code runs is decided by the scenario file that is in the project now. If that file is
    missing, or names another agent than the recording, nothing is started.

    A program (adapter: command) is started again and gets the recorded answers of its models; its tools are its own.

    RUN_ID is any unique prefix of the id of a run, latest, or latest~1 for the run before that; or of the id of a
    batch, for all its runs. Exits 0 when every replay is identical, 1 when one diverges, and 3 when a run of a batch
    could not be replayed. With --re-eval the exit code is that of the verdict, as with salvo run.
    """
    if failed and (re_eval or scenario is not None):
        raise click.UsageError("--failed replays runs: omit --re-eval and --scenario.")
    if re_eval and adapter is not None:
        raise click.UsageError("--re-eval runs no agent: omit --adapter.")
    if scenario is not None and (source is not None or adapter is not None):
        raise click.UsageError("--scenario evaluates with another file: omit --source and --adapter.")
    if source is not None and not source.is_file():
        raise UsageError(f"There is no file {source}.", hint="--source takes the scenario file of the run.")
    workspace = Workspace(Project.find(store_address=store_address), allow_env=frozenset(allow_env))
    if re_eval or scenario is not None:
        code = asyncio.run(_evaluate_again(workspace, run_id or LATEST, scenario, source, as_json=as_json))
    else:
        replaying = _replay(workspace, run_id, NamedCode(source, adapter), failed=failed, as_json=as_json)
        code = event_loop.run(replaying, _end_lost_replay)
    raise SystemExit(code)


def _end_lost_replay(_blocker: event_loop.Responsible, seconds: float, where: str) -> ExitCode:
    echo(event_loop.describe_lost_loop(seconds, where, "the replay"), err=True)
    return ExitCode.NOT_JUDGED


async def _replay(
    workspace: Workspace, run_id: str | None, code: NamedCode, *, failed: bool, as_json: bool
) -> ExitCode:
    replayer = Replayer(workspace)
    if failed or (run_id is not None and _find_batch(replayer.store, run_id) is not None):
        run_ids = runs_to_replay(replayer.store, run_id or LATEST, failed=failed)
        if not run_ids:
            echo("No run failed." if failed else "The batch has no run yet.")
            return ExitCode.OK if failed else ExitCode.NOTHING
        return await replay_runs(replayer, run_ids, code, as_json=as_json)
    replayed = await replayer.replay(replayer.store.find_run(run_id or LATEST), code)
    if as_json:
        echo_json(_replay_json(replayed))
    else:
        echo("\n".join(_replay_lines(replayed)))
    return ExitCode.OK if replayed.identical else ExitCode.FAILED


def _replay_lines(replayed: RunReplay) -> list[str]:
    lines = run_in_full(replayed.result or replayed.stored, colour=True)
    lines += ["", *(f"Note: {warning}" for warning in replayed.warnings)]
    if not replayed.identical:
        return [*lines, f"Diverged{'.' if replayed.divergence else ' at'} {replayed.first_difference}"]
    words = {
        "full": "Identical: the same agent code, on the recorded answers, did the same.",
        "model-only": "Identical: the program, run again on the recorded answers of its models, did the same.",
        "frozen-tools": "Identical: the same agent code, on the recorded tool results, did the same.",
        "reconstructed": "Reconstructed from what was stored; the agent was not called.",
    }
    return [*lines, words[replayed.mode]]


def _replay_json(replayed: RunReplay) -> bytes:
    document = {
        "run_id": replayed.stored.run_id,
        "mode": replayed.mode,
        "identical": replayed.identical,
        "divergence": replayed.divergence or None,
        "differences": [difference._asdict() for difference in replayed.differences],
        "warnings": replayed.warnings,
        "result": replayed.result,
    }
    return json_codec.dumps(document, indent=2)


async def _evaluate_again(
    workspace: Workspace, run_or_batch_id: str, file: Path | None, source: Path | None, *, as_json: bool
) -> ExitCode:
    replayer = Replayer(workspace)
    store = replayer.store
    batch_id = _find_batch(store, run_or_batch_id)
    run_ids = [store.find_run(run_or_batch_id)] if batch_id is None else store.batch_run_ids(batch_id)
    if batch_id is not None and not run_ids:
        raise NothingFoundError(f"The batch {batch_id} has no run yet.", hint=labels.continue_command(batch_id))
    again = await replayer.evaluate_again(run_ids, file, source)
    if batch_id is None:
        return _show_run(again, as_json=as_json)
    return _show_batch(again, as_json=as_json)


def _find_batch(store: RunStore, run_or_batch_id: str) -> str | None:
    """Return the batch whose id begins like this; None for `latest`, or if it is the id of a run."""
    if steps_before_latest(run_or_batch_id) is None:
        with suppress(UnknownIdError):
            return store.find_batch(run_or_batch_id)
    return None


def _show_run(again: EvaluatedAgain, *, as_json: bool) -> ExitCode:
    [(before, after)] = again.runs
    if as_json:
        echo_json(_evaluation_json(again))
    else:
        echo("\n".join([*(f"Note: {note}" for note in again.notes), *_changes(before, after)]))
    return {"failed": ExitCode.FAILED, "error": ExitCode.NOT_JUDGED}.get(after.outcome, ExitCode.OK)


def _show_batch(again: EvaluatedAgain, *, as_json: bool) -> ExitCode:
    """Show the stored verdict of the batch and the one with the current scenario, which decides the exit code."""
    current = replace(
        again.batch,
        min_pass_rate=again.scenario.min_pass_rate,
        confidence=again.scenario.confidence,
        threshold=again.scenario.threshold,
    )
    before = summarise(again.batch, [index_entry(old) for old, _ in again.runs])
    after = summarise(current, [index_entry(new) for _, new in again.runs])
    if as_json:
        echo_json(_evaluation_json(again, before=before, after=after))
        return batch_exit_code([after])
    compared = [(_changes(old, new), _verdict(old) == _verdict(new)) for old, new in again.runs]
    changed = [lines for lines, same in compared if len(lines) > 1 or not same]
    lines = [f"Note: {note}" for note in again.notes]
    lines += [line for run_lines in changed for line in run_lines]
    if same := len(again.runs) - len(changed):
        lines.append(f"{same} of {len(again.runs)} runs have the same results.")
    echo("\n".join([*lines, "", f"was  {verdict(before)}", f"is   {verdict(after)}"]))
    return batch_exit_code([after])


def _evaluation_json(
    again: EvaluatedAgain, before: BatchSummary | None = None, after: BatchSummary | None = None
) -> bytes:
    document = {
        "batch_id": again.batch.batch_id,
        "notes": again.notes,
        "was": before,
        "is": after,
        "results": [new for _, new in again.runs],
    }
    return json_codec.dumps(document, indent=2)


def _changes(before: AgentRunResult, after: AgentRunResult) -> list[str]:
    lines = [f"{after.run_id}  was {_verdict(before)}, is {_verdict(after)}"]
    old = {key: item.passed for key, item in _labelled_results(before)}
    new = dict(_labelled_results(after))
    for key, item in new.items():
        if key not in old:
            lines.append(f"  {item.name}: new, {_outcome(item.passed)}. {item.message}".rstrip())
        elif old[key] != item.passed:
            lines.append(
                f"  {item.name}: was {_outcome(old[key])}, is {_outcome(item.passed)}. {item.message}".rstrip()
            )
    lines += [f"  {name}: no longer asserted" for name, number in old if (name, number) not in new]
    return [printable(line) for line in lines] if len(lines) > 1 else [f"{lines[0]}; no assertion changed"]


def _verdict(result: AgentRunResult) -> str:
    return f"{result.outcome}" + ("" if result.weighted_score is None else f" ({result.weighted_score:.2f})")


def _labelled_results(result: AgentRunResult) -> Iterator[tuple[tuple[str, int], EvalResult]]:
    """Yield the results by the label of their assertion and, where several share one, their order."""
    count: Counter[str] = Counter()
    for item in result.eval_results:
        yield (item.name, count[item.name]), item
        count[item.name] += 1


def _outcome(passed: bool | None) -> str:
    return "not judged" if passed is None else "passed" if passed else "failed"
