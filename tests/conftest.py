"""What holds for every test."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.project import BOOK_FLIGHT, TOOLS, UserProject

# The same examples every time: a red build must be red for everyone. `HYPOTHESIS_PROFILE=explore` looks for new ones.
# How fast a machine makes examples is no property of the code.
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UserProject:
    """A user's project with the specification's scenario and its tools."""
    user_project = UserProject(tmp_path, monkeypatch)
    (tmp_path / ".salvo").mkdir()
    user_project.write("scenarios/book_flight.yaml", BOOK_FLIGHT)
    user_project.write("tools.py", TOOLS)
    return user_project


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with its tables and no evaluations. Copying it takes a hundredth of the time of creating one."""
    from salvo.playbooks.store.store import EvaluationStore  # most tests do without SQLAlchemy
    from tests.support.clock import HeldClock

    file = tmp_path_factory.mktemp("database") / "byop_runs.db"
    EvaluationStore.open(f"sqlite:///{file}", HeldClock()).close()
    return file
