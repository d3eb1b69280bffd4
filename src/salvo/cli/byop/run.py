"""`byop run`: evaluate a frozen AI output with a playbook."""

from __future__ import annotations

from typing import Any

import click

from salvo.cli.byop.evaluator_options import evaluator_options
from salvo.cli.byop.signing_option import sign_option
from salvo.cli.output_options import json_option, output_option
from salvo.cli.param_types import FILE_PATH


@click.command
@click.argument("output_files", nargs=-1, metavar="[OUTPUT_FILE|FOLDER|-]...")
@click.option("--source", type=FILE_PATH, help="The document that the AI was asked about.")
@click.option("--prompt", type=FILE_PATH, help="The prompt that the AI was given.")
@click.option("--system", type=FILE_PATH, help="The system instructions that the AI had.")
@click.option(
    "--encoding",
    type=click.Choice(["windows-1252"]),
    help="How to read text files that are neither UTF-8 nor UTF-16. By default they are refused.",
)
@click.option(
    "--playbook",
    default="ai_plugin_observability_v1",
    show_default=True,
    metavar="ID|ID@NUMBER|FILE",
    help="A playbook of the library, a saved one or a version of it, or a file.",
)
@click.option("--mode", type=click.Choice(["full", "screening"]), default="full", show_default=True)
@click.option(
    "--runs", type=click.IntRange(min=1), help="How many times each check is judged; at least 3 in full mode."
)
@click.option(
    "--evaluator",
    "evaluators",
    multiple=True,
    metavar="NAME[@URL]",
    help="rules, or a model such as anthropic/claude-sonnet-4-6, with the address of its server if it has its own. May "
    "be given several times. [default: a model whose key is set, otherwise rules]",
)
@evaluator_options
@click.option("--subject", default="default", show_default=True, help="The series that this text belongs to.")
@click.option("--producer", help="The AI that wrote the text, as provider/model or any name.")
@click.option("--title", help="What the document is called. [default: the name of the file]")
@click.option("--reviewer", help="Who asks for the evaluation.")
@click.option("--save-baseline", is_flag=True, help="Save the report as the baseline of its subject.")
@click.option("--fail-on", type=click.Choice(["alert", "review", "observe"]), default="review", show_default=True)
@sign_option
@output_option(
    "Also write a file: .json, .html, .md or .xml (JUnit); of several documents the matrix: .csv, .json or .html."
)
@json_option
@click.option("--no-store", is_flag=True, help="Store nothing. Drift and replay are not available then.")
@click.option("--hashes-only", is_flag=True, help="Store hashes and verdicts, but no texts.")
@click.option(
    "--batch-api",
    is_flag=True,
    help="Ask through the provider's batch API, at half the price, within a day. `byop collect` completes it.",
)
@click.option(
    "--resume",
    metavar="ID",
    help="Ask the questions of an interrupted evaluation, or of all documents of a batch, that have no vote yet.",
)
@click.option(
    "-j", "--concurrency", type=click.IntRange(min=1), default=16, show_default=True, help="Calls at the same time."
)
def run(**options: Any) -> None:
    """Evaluate a frozen AI output with a playbook.

    The result is not legal advice. OUTPUT_FILE contains what the AI wrote, as text, .docx or .pdf; - reads standard
    input. Several files, or the documents in a FOLDER, are evaluated together and shown as a matrix of documents and
    checks. Exits 0 for STABLE and OBSERVE, 1 for REVIEW and ALERT (see --fail-on), 2 on bad usage or input, 3 if
    something could not be judged or waits for a batch, and 130 if interrupted; then the votes are stored, and --resume
    continues. For several documents it is the worst.
    """
    from salvo.cli.byop import run_command  # takes several times as long as everything that --help needs

    run_command.run(**options)
