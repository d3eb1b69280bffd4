"""What counts as a tool's own: what it is written with, and not what stands beside it."""

from pathlib import Path

import pytest

from salvo.scenarios.run.tools.function import tool_source
from salvo.scenarios.spec.project import Project

FILE = """\
import json, os.path
from math import floor as down

# about flights
FLIGHTS = [{"id": 1}]
LIMIT: int = 3
try:
    import fast
except ImportError:
    fast = None


def marked(function):
    return function


@marked
def search(origin: str):
    here = other = 1
    return json.dumps([_shown(flight) for flight in FLIGHTS][:down(LIMIT)])


def _shown(flight):
    return fast or flight


def book(flight: str):
    here = 2
    return os.path.join(flight)


other = 5
"""


def source(folder: Path, content: str, name: str = "search") -> str:
    file = folder / f"tools_{abs(hash(content))}.py"
    file.write_text(content)
    return tool_source(getattr(Project(folder, folder).load_module(file), name))


def test_a_function_is_its_lines_and_what_it_uses_of_its_file(tmp_path: Path) -> None:
    assert source(tmp_path, FILE, "book") == (
        "import json, os.path\ndef book(flight: str):\n    here = 2\n    return os.path.join(flight)\n"
    )


@pytest.mark.parametrize(
    "before, after, same",
    [
        ("# about flights", "# about trains\n\n", True),
        ("here = 2", "here = 3", True),
        ('"id": 1', '"id": 2', False),
        ("fast = None", "fast = 1", False),
        ("return fast or flight", "return flight", False),
        ("LIMIT: int = 3", "LIMIT: int = 4", False),
        ("@marked\n", "", False),
        ("floor as", "ceil as", False),
    ],
)
def test_it_changes_with_what_it_depends_on_alone(tmp_path: Path, before: str, after: str, same: bool) -> None:
    assert (source(tmp_path, FILE) == source(tmp_path, FILE.replace(before, after))) is same


def test_what_was_never_written_has_no_source() -> None:
    made: dict[str, object] = {}
    exec("def search(): ...", made)  # noqa: S102 - what a user's module may do
    function = made["search"]
    assert callable(function)
    assert tool_source(function) == ""
