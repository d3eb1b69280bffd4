"""A user's project for every test that wants one."""

from pathlib import Path

import pytest

from tests.support.project import BOOK_FLIGHT, TOOLS, UserProject


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UserProject:
    """With the document's scenario and its tools."""
    made = UserProject(tmp_path, monkeypatch)
    (tmp_path / ".salvo").mkdir()
    made.write("scenarios/book_flight.yaml", BOOK_FLIGHT)
    made.write("tools.py", TOOLS)
    return made
