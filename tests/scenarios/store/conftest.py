"""Stores in a folder and in an object store. Tests of both get `place`, where a store can be opened several times."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.location import open_store
from salvo.scenarios.store.store import RunStore


@dataclass(frozen=True)
class StorePlace:
    """An address at which a store can be opened."""

    address: str
    folder: Path

    def open(self) -> RunStore:
        return open_store(Project(self.folder, self.folder, store_address=self.address))


@pytest.fixture(params=["folder", "object store"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> StorePlace:
    address = str(tmp_path / "store") if request.param == "folder" else request.getfixturevalue("bucket")
    return StorePlace(address, tmp_path)
