"""The playbooks that come with the program, and how any is found by its name."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

from salvo.engine.runtime.files import read_up_to
from salvo.engine.text.messages import did_you_mean
from salvo.errors import UsageError
from salvo.playbooks.playbook.document import LARGEST
from salvo.playbooks.playbook.schema import Playbook
from salvo.playbooks.playbook.validate import read

STARTER = "ai_plugin_observability_v1"


def names() -> list[str]:
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".json") for file in files if file.name.endswith(".json"))


def named(name: str) -> Playbook:
    """The library's playbook with this id, else the one in this file."""
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
    """The playbook with this id; UsageError where there is none."""
    if name not in names():
        raise UsageError(
            f"There is no playbook {name!r} in the library{did_you_mean(name, names())}",
            hint=f"There are: {', '.join(names())}. A playbook of your own is named by its file.",
        )
    return read(resources.files(__name__).joinpath(f"{name}.json").read_bytes(), name)
