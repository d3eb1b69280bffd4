"""Scenario files for tests of the loader, and what a person reads about them."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from salvo.engine.jsonio.pydantic_errors import FieldError
from salvo.errors import ScenarioFileError
from salvo.scenarios.spec.loader import load_scenarios
from salvo.scenarios.spec.schema import Scenario

LEAST = """\
scenario: least
adapter: openai
user_message: Hello
assertions:
  - type: cost_limit
"""


def write(name: str, text: str | bytes) -> Path:
    file = Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def read(file: Path, *, environ: Mapping[str, str] = os.environ, root: Path | None = None) -> Scenario:
    [loaded] = load_scenarios(file, environ=environ, root=root)
    return loaded.valid_model()


def problems(
    text: str | bytes,
    name: str = "s.yaml",
    *,
    environ: Mapping[str, str] = os.environ,
    check: Callable[[Scenario], Iterable[FieldError]] = lambda _: [],
) -> str:
    """Return the message about a file, with what a check of the project reports."""
    [loaded] = load_scenarios(write(name, text), environ=environ)
    if draft := loaded.draft():
        loaded.report(check(draft))
    with pytest.raises(ScenarioFileError) as raised:
        loaded.valid_model()
    assert str(raised.value) == "\n".join(str(problem) for problem in raised.value.problems)
    return str(raised.value)
