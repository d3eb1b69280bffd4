"""Stores in a folder and in an object store. Tests of both get `place`, where a store can be opened several times."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.store import RunStore
from tests.support.object_store import environment, make_bucket, object_store_server

_buckets = count(1)


@dataclass(frozen=True)
class StorePlace:
    """An address at which a store can be opened."""

    address: str
    folder: Path

    def open(self) -> RunStore:
        return open_store(Project(self.folder, self.folder, store_address=self.address))


@pytest.fixture(scope="module")
def object_server() -> Iterator[str]:
    with object_store_server() as endpoint:
        yield endpoint


@pytest.fixture
def bucket(object_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty store in an object store, which the environment gives access to."""
    name = f"bucket-{next(_buckets)}"
    make_bucket(object_server, name)
    for variable, value in environment(object_server).items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))
    return f"s3://{name}/team/runs"


@pytest.fixture(params=["folder", "object store"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> StorePlace:
    address = str(tmp_path / "store") if request.param == "folder" else request.getfixturevalue("bucket")
    return StorePlace(address, tmp_path)
