"""`salvo init`: a project that runs as it is."""

from __future__ import annotations

from pathlib import Path

import click

from salvo.errors import InputError

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

    FOLDER is made if it does not exist; without one, the current folder. A file that is already there is left as it is.
    """
    from importlib.resources import files

    templates = files("salvo.scenarios.spec").joinpath("templates")
    written = [
        _write(folder / target, templates.joinpath(template).read_text(encoding="utf-8"))
        for template, target in FILES.items()
    ]
    written.append(_write(folder / ".salvo" / "scenario.schema.json", _schema()))
    if not any(written):
        click.echo("Everything was there already.")
    steps = ([] if folder == Path() else [f"cd {folder}"]) + ["salvo run --record", "salvo replay latest"]
    click.echo("\nTry:\n" + "\n".join(f"  {step}" for step in steps))


def _write(file: Path, content: str) -> bool:
    if file.exists():
        click.echo(f"  kept     {file}")
        return False
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    except OSError as fault:
        raise InputError(f"{file} cannot be written: {fault.strerror}.", hint="Choose another folder.") from fault
    click.echo(f"  created  {file}")
    return True


def _schema() -> str:
    import json

    from salvo.scenarios.evaluators.registry import builtin_registry
    from salvo.scenarios.spec.schema import scenario_schema

    return json.dumps(scenario_schema(builtin_registry().types()), indent=2) + "\n"
