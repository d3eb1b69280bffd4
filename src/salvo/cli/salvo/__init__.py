"""The command `salvo`."""

from __future__ import annotations

import click

from salvo import __version__
from salvo.cli.lazy import LazyCommand, LazyGroup

COMMANDS = {
    "init": LazyCommand("salvo.cli.salvo.init", "Make a project with an example scenario that runs without a key."),
    "validate": LazyCommand("salvo.cli.salvo.validate", "Check scenario files, without any call."),
    "import": LazyCommand(
        "salvo.cli.salvo.import_command", "Make scenarios from the configurations of other tools.", "import_group"
    ),
    "run": LazyCommand("salvo.cli.salvo.run", "Run scenarios N times and report how reliable the agent is."),
    "collect": LazyCommand(
        "salvo.cli.salvo.collect",
        "Fetch the votes that a command with `--judges batch` asked for, and give the verdict.",
    ),
    "merge": LazyCommand(
        "salvo.cli.salvo.merge", "Join the stores of `salvo run --shard` and report their runs as one batch."
    ),
    "report": LazyCommand("salvo.cli.salvo.report", "Show stored results: the newest batches, one batch, or one run."),
    "compare": LazyCommand(
        "salvo.cli.salvo.compare",
        "Compare two models, or two batches: what is better, what is worse, and what these runs cannot tell.",
    ),
    "baseline": LazyCommand(
        "salvo.cli.salvo.baseline", "Keep a batch as the baseline that later runs are compared with."
    ),
    "judge": LazyCommand(
        "salvo.cli.salvo.judge",
        "Judge stored transcripts again, without running the agent: does the agent vary, or the judge?",
    ),
    "label": LazyCommand(
        "salvo.cli.salvo.label",
        "Label judged runs yourself, and see the pass rate corrected by what the judge got wrong.",
    ),
    "score": LazyCommand(
        "salvo.cli.salvo.score",
        "Score stored runs again with a new rubric, judge or assertion. Only judges are called.",
    ),
    "choices": LazyCommand(
        "salvo.cli.salvo.choices", "Show which tools a model chose for which prompt, over all runs of a batch."
    ),
    "dashboard": LazyCommand(
        "salvo.cli.salvo.dashboard",
        "Show the stored runs on a page: batches over time, comparisons, and each run step by step.",
    ),
    "replay": LazyCommand(
        "salvo.cli.salvo.replay",
        "Replay recorded runs: the same agent code, no network, no tool executed, no key.",
    ),
    "cache": LazyCommand("salvo.cli.salvo.cache", "Show or clear the replies that `salvo run --cache` keeps."),
    "schema": LazyCommand("salvo.cli.salvo.schema", "Print the JSON Schema of a scenario file, for editors."),
    "models": LazyCommand("salvo.cli.salvo.models", "List models: what they accept and cost, and which keys are set."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
@click.version_option(__version__, prog_name="salvo")
def salvo() -> None:
    """Tests for multi-step AI agents: run a scenario N times and measure how reliable the agent is."""
