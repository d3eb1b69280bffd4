"""The models that stand in for the real ones, and a folder like a checkout."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.models import stand_in
from tests.docs.session import Shell
from tests.support.provider import LoopbackProvider


@pytest.fixture(scope="session")
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(stand_in) as provider:
        yield provider


@pytest.fixture
def shell(tmp_path: Path, provider: LoopbackProvider) -> Shell:
    return Shell(tmp_path, provider)
