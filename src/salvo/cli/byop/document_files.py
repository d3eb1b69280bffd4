"""The files of several documents: those that are named, and those in folders."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from salvo.cli.output import echo
from salvo.engine.text.unicode_escape import printable
from salvo.errors import UsageError
from salvo.playbooks.evaluate.text_files import SUFFIXES
from salvo.records import record

_LOCK_FILE = "~$"
"""How the names of the files begin that Word keeps beside an open document."""


@record
class DocumentFile:
    path: Path
    """As it was given."""
    name: str
    """Its path within the folder that was given, or its name."""
    title: str
    """No other document of the command has the same."""


def find_documents(arguments: Sequence[str]) -> list[DocumentFile]:
    """Return the files in the order given, each once; those of a folder by name. UsageError if there are none."""
    names_by_path: dict[Path, tuple[Path, str]] = {}
    for argument in arguments:
        if argument == "-":
            raise UsageError(
                "Standard input cannot be one of several documents.", hint="Save it as a file, or evaluate it alone."
            )
        path = Path(argument)
        if path.is_dir():
            for inside in _folder_files(path):
                names_by_path.setdefault(inside.resolve(), (inside, inside.relative_to(path).as_posix()))
        else:
            names_by_path.setdefault(path.resolve(), (path, path.name))
    if not names_by_path:
        raise UsageError(
            f"There are no documents in {', '.join(arguments)}.", hint=f"They end with {', '.join(SUFFIXES)}."
        )
    titles = Counter(_without_suffix(name) for _, name in names_by_path.values())
    names = Counter(name for _, name in names_by_path.values())
    documents = []
    for path, name in names_by_path.values():
        title = _without_suffix(name)
        unique = title if titles[title] == 1 else name if names[name] == 1 else str(path)
        documents.append(DocumentFile(path, name, unique))
    return documents


def _without_suffix(name: str) -> str:
    suffix = Path(name).suffix
    return name.removesuffix(suffix) if suffix.lower() in SUFFIXES else name


def _folder_files(folder: Path) -> Iterator[Path]:
    """Yield the documents of a folder and its folders, by name, without hidden files and links out of the folder."""
    inside = folder.resolve()
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if name.startswith((".", _LOCK_FILE)) or path.suffix.lower() not in SUFFIXES:
                continue
            if not path.resolve().is_relative_to(inside):
                echo(f"Notice: {printable(str(path))} is a link out of the folder, so it is left out.", err=True)
                continue
            yield path
