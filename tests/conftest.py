"""Settings and fixtures for all tests."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.project import BOOK_FLIGHT, TOOLS, UserProject

ROOT = Path(__file__).parents[1]

# No deadline: how fast a machine generates examples says nothing about the code.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples every time, so that a failing build fails for everyone. `make test-load` tries many more of them.
settings.register_profile("fixed", _COMMON, derandomize=True, max_examples=25)
settings.register_profile("load", _COMMON, derandomize=True, max_examples=300)
settings.register_profile("explore", _COMMON, max_examples=1000)  # new examples every time
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

_buckets = count(1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores: the tests spend a third of their time waiting for processes and pages."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Let no search for garbage visit the eight thousand tests and what they import: all of it stays until the end."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _no_store_of_the_developer() -> None:
    """The tests must not write into the store of whoever runs them."""
    os.environ.pop("SALVO_STORE", None)


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """A shell starts background jobs with Ctrl-C ignored, and the processes that tests start would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def coverage_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure the coverage of the processes that this test starts, if coverage is measured at all.

    That more than doubles the time of a process. Almost everything that runs there is also tested in this process;
    tests of the rest use this fixture.
    """
    if "tests.support.coverage.probes" in sys.modules:
        path = (str(ROOT / "tests/support/coverage/process"), str(ROOT), os.environ.get("PYTHONPATH", ""))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))


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


@pytest.fixture(scope="module")
def object_server() -> Iterator[str]:
    """The address of an object store with the API of S3."""
    from tests.support.object_store import object_store_server  # moto takes a second to import

    with object_store_server() as endpoint:
        yield endpoint


@pytest.fixture
def bucket(object_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty store in an object store, which the environment gives access to."""
    from tests.support.object_store import make_bucket, object_environment  # as above

    name = f"bucket-{next(_buckets)}"
    make_bucket(object_server, name)
    for variable, value in object_environment(object_server).items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))
    return f"s3://{name}/team/runs"
