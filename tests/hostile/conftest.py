"""Projects for mutated files; no test leaves a process behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.checks import children, command_line
from tests.support.byop_project import ByopProject
from tests.support.project import UserProject


@pytest.fixture(autouse=True)
def no_process_is_left_behind() -> Iterator[None]:
    before = children()
    yield
    left = children() - before
    assert not left, {number: command_line(number) for number in left}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UserProject:
    (tmp_path / ".git").mkdir()
    return UserProject(tmp_path, monkeypatch)


@pytest.fixture
def byop_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ByopProject:
    return ByopProject(tmp_path, monkeypatch)
