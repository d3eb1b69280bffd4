"""`salvo init`: make a project that can be run at once."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from salvo.cli.output import echo
from salvo.cli.salvo.schema import schema_text
from salvo.engine.runtime.files import make_folder, write
from salvo.engine.text.unicode_escape import printable
from salvo.errors import InputError

_STORE = ".salvo"
FILES = {
    "book_flight.yaml": "scenarios/book_flight.yaml",
    "tools.py.txt": "tools.py",
    "travel_agent.py.txt": "travel_agent.py",
    "gitignore.txt": ".salvo/.gitignore",
}


@click.command
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
def init(folder: Path) -> None:
    """Make a project with an example scenario that runs without a key.

    FOLDER is created if it does not exist; without one, it is the current folder. Existing files are not changed.
    """
    templates = files("salvo.scenarios.spec").joinpath("templates")
    created = [
        _write(folder / target, templates.joinpath(template).read_text(encoding="utf-8"))
        for template, target in FILES.items()
    ]
    created.append(_write(folder / ".salvo" / "scenario.schema.json", schema_text() + "\n"))
    if not any(created):
        echo("All files exist already.")
    change_folder = [] if folder == Path() else [f"cd {printable(str(folder))}"]
    steps = [*change_folder, "salvo run --record", "salvo replay --failed"]
    echo("\nTry:\n" + "\n".join(f"  {step}" for step in steps))


def _write(file: Path, content: str) -> bool:
    name = printable(str(file))
    if file.exists():
        echo(f"  kept     {name}")
        return False
    try:
        if file.parent.name == _STORE:
            file.parent.parent.mkdir(parents=True, exist_ok=True)
            make_folder(file.parent)  # runs will be stored there, for their owner alone
            write(file, content.encode())
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror}.", hint="Choose another folder.") from error
    echo(f"  created  {name}")
    return True
