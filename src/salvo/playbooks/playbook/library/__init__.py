"""The built-in playbooks. `find` returns one by its id, or reads one from a file."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import read_up_to
from salvo.engine.text.messages import did_you_mean
from salvo.errors import UsageError
from salvo.playbooks.playbook.definition import Playbook
from salvo.playbooks.playbook.document import LARGEST
from salvo.playbooks.playbook.validate import read

STARTER = "ai_plugin_observability_v1"


def names() -> list[str]:
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".json") for file in files if file.name.endswith(".json"))


def find(name: str) -> Playbook:
    """Return the built-in playbook with this id, else the one in the file with this name."""
    if name in names():
        return load(name)
    if not Path(name).exists():
        raise UsageError(
            f"There is no playbook {name!r}, neither in the library nor as a file{did_you_mean(name, names())}",
            hint=f"The library has: {', '.join(names())}.",
        )
    return read(read_up_to(Path(name), LARGEST), name)


@cache
def load(name: str) -> Playbook:
    """Return the built-in playbook with this id; raise UsageError if there is none."""
    if name not in names():
        raise UsageError(
            f"There is no playbook {name!r} in the library{did_you_mean(name, names())}",
            hint=f"There are: {', '.join(names())}. Give the path of its file to use your own.",
        )
    content = resources.files(__name__).joinpath(f"{name}.json").read_bytes()
    return Playbook.from_document(json_codec.loads(content))
