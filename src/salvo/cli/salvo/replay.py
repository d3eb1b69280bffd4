"""`salvo replay`: a recorded run again, without calling anyone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from salvo.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from salvo.assembly import Workshop
    from salvo.scenarios.replay import Replayed
    from salvo.scenarios.result import AgentRunResult
    from salvo.scenarios.store import Store


@click.command
@click.argument("run_id", default="latest")
@click.option("--re-eval", is_flag=True, help="Evaluate again, under the present scenario file, at no cost.")
@click.option("--scenario", type=click.Path(path_type=Path), help="With --re-eval: another scenario file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def replay(run_id: str, re_eval: bool, scenario: Path | None, as_json: bool) -> None:
    """Replay a recorded run: the same agent code, no network, no tool executed, no key.

    RUN_ID is any unique prefix of a run's id, or latest; with --re-eval also a batch's. Exits 0 when the replay is
    identical and 1 when it diverges; with --re-eval by the verdicts.
    """
    import asyncio

    from salvo.assembly import Workshop
    from salvo.scenarios.project import Project

    workshop = Workshop(Project.find(Path.cwd()))
    if re_eval or scenario is not None:
        code = asyncio.run(_evaluate_again(workshop, run_id, scenario, as_json=as_json))
    else:
        code = asyncio.run(_replay(workshop, run_id, as_json=as_json))
    raise SystemExit(code)


async def _replay(workshop: Workshop, run_id: str, *, as_json: bool) -> ExitCode:
    replayer = workshop.replayer()
    replayed = await replayer.replay(replayer.store.find_run(run_id))
    click.echo(_json(replayed) if as_json else "\n".join(_shown(replayed)))
    return ExitCode.OK if replayed.identical else ExitCode.FAILED


def _shown(replayed: Replayed) -> list[str]:
    from salvo.scenarios.report.terminal import run_in_full

    lines = run_in_full(replayed.result or replayed.stored)
    lines += ["", *(f"Note: {warning}" for warning in replayed.warnings)]
    if replayed.divergence:
        return [*lines, f"Diverged. {replayed.divergence}"]
    if replayed.differences:
        first, *rest = replayed.differences
        more = f" and {len(rest)} more differences" if rest else ""
        return [*lines, f"Diverged at {first.text('recorded', 'now')}{more}"]
    words = {
        "full": "Identical: the same agent code, on the recorded answers, did the same.",
        "frozen-tools": "Identical: the same agent code, on the recorded tool results, did the same.",
        "reconstructed": "Reconstructed from what was stored; the agent was not called.",
    }
    return [*lines, words[replayed.mode]]


def _json(replayed: Replayed) -> str:
    from salvo.engine import jsontext

    document = {
        "run_id": replayed.stored.run_id,
        "mode": replayed.mode,
        "identical": replayed.identical,
        "divergence": replayed.divergence or None,
        "differences": [difference._asdict() for difference in replayed.differences],
        "warnings": replayed.warnings,
        "result": replayed.result,
    }
    return jsontext.dumps(document, indent=2).decode()


async def _evaluate_again(workshop: Workshop, wanted: str, file: Path | None, *, as_json: bool) -> ExitCode:
    from salvo.engine import jsontext

    replayer = workshop.replayer()
    again = [await replayer.evaluate_again(run_id, file) for run_id in _runs(replayer.store, wanted)]
    if as_json:
        click.echo(jsontext.dumps([result for _, result in again], indent=2).decode())
    else:
        for before, after in again:
            click.echo("\n".join(_compared(before, after)))
    outcomes = {after.outcome.value for _, after in again}
    return ExitCode.FAILED if "failed" in outcomes else ExitCode.NOT_JUDGED if "error" in outcomes else ExitCode.OK


def _runs(store: Store, wanted: str) -> list[str]:
    """A run, or all runs of a batch."""
    from salvo.errors import AmbiguousIdError

    try:
        return [store.find_run(wanted)]
    except AmbiguousIdError:  # every run of a batch begins with the batch's id
        batch_id = store.find_batch(wanted)
        return [result.run_id for result in store.runs_of(batch_id)]


def _compared(before: AgentRunResult, after: AgentRunResult) -> list[str]:
    def verdict(result: AgentRunResult) -> str:
        return f"{result.outcome}" + ("" if result.weighted_score is None else f" ({result.weighted_score:.2f})")

    lines = [f"{after.run_id}  was {verdict(before)}, is {verdict(after)}"]
    old = {item.name: item.passed for item in before.eval_results}
    for item in after.eval_results:
        if item.name not in old:
            lines.append(f"  {item.name}: new, {_word(item.passed)}. {item.message}")
        elif old[item.name] != item.passed:
            lines.append(f"  {item.name}: was {_word(old[item.name])}, is {_word(item.passed)}. {item.message}")
    gone = [name for name in old if name not in {item.name for item in after.eval_results}]
    lines += [f"  {name}: no longer asserted" for name in gone]
    return lines if len(lines) > 1 else [f"{lines[0]}; no assertion changed"]


def _word(passed: bool | None) -> str:
    return "not judged" if passed is None else "passed" if passed else "failed"
