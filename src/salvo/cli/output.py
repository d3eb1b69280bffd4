"""Everything that the commands print. Nothing else writes to the terminal; ruff forbids it.

What is printed may contain text from a model, a file or a recording, which must not steer the terminal. So control
characters and invisible ones are made visible here, whatever the caller did before.
"""

from __future__ import annotations

import click

from salvo.engine.text.terminal import Paint, render
from salvo.engine.text.unicode_escape import printable, printable_json, visible
from salvo.errors import UsageError

_CLEAR_LINE = "\r\x1b[K"


def echo(text: object, *, fg: str | None = None, err: bool = False) -> None:
    """Print text for a person, in one colour or in the styles of `Paint`."""
    click.echo(render(str(text) if fg is None else Paint(True)(str(text), fg)), err=err)


def echo_json(document: str | bytes) -> None:
    """Print a JSON document. It stays valid, with the same value: characters are escaped as JSON escapes them."""
    text = document.decode() if isinstance(document, bytes) else document
    content = printable_json(text.removesuffix("\n")).encode()
    click.echo(content)  # bytes, because JSON is UTF-8 whatever the terminal's encoding is


def echo_document(document: str) -> None:
    """Print an HTML or Markdown document, as it would be in a file."""
    click.echo(visible(document), nl=not document.endswith("\n"))


def rewrite_line(text: str) -> None:
    """Replace the last line on stderr, which must be a terminal."""
    click.echo(f"{_CLEAR_LINE}{printable(text)}", err=True, nl=False)


def confirm(question: str) -> None:
    """Ask the user. Without a yes, the command ends."""
    click.confirm(printable(question), abort=True)


def ask(question: str) -> str:
    """Return a line that the user types; empty if they type nothing."""
    answer: str = click.prompt(printable(question), default="", show_default=False)
    return answer


def ask_password(question: str) -> str:
    """Return a password that the user types twice, without showing it."""
    password: str = click.prompt(printable(question), hide_input=True, confirmation_prompt=True)
    return password


def read_key() -> str:
    """Return the key that the user presses; "q" at the end of the input. Raise UsageError without a terminal."""
    try:
        return click.getchar()
    except EOFError:
        return "q"
    except OSError as error:
        raise UsageError("There is no terminal whose keys could be read.", hint="Use --export and --import.") from error
