"""The options that say where an evaluator is, which key it gets, and how long it may take."""

from __future__ import annotations

import click

from salvo.cli.options import option_set

MAX_TIMEOUT = 86_400


evaluator_options = option_set(
    click.option(
        "--base-url",
        metavar="URL",
        help="The address of a server that is compatible with the evaluator's provider, with or without /v1.",
    ),
    click.option(
        "--key-variable",
        "key_variables",
        multiple=True,
        metavar="NAME[@URL]",
        help="The environment variable that contains the key for --base-url, or for the evaluator at URL. Can be "
        "repeated.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True, max=MAX_TIMEOUT),
        metavar="SECONDS",
        help="How long one call may take, such as to a slow model on this machine; it is then not repeated. [default: "
        "300, with retries]",
    ),
)
