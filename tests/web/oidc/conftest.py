"""A scripted provider, and settings with which a server lets everybody in for whom it vouches."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from salvo.playbooks.accounts.users import Role
from tests.support.oidc import (
    ScriptedOidcProvider,
    settings,
)


@pytest.fixture
def url(database: Path) -> str:
    return f"sqlite:///{database}"


@pytest.fixture
def provider() -> Iterator[ScriptedOidcProvider]:
    with ScriptedOidcProvider() as ready:
        yield ready


@pytest.fixture
def open_settings(provider: ScriptedOidcProvider) -> dict[str, Any]:
    """Settings of a server that everybody may log in to for whom the provider vouches."""
    return {"oidc": settings(provider.issuer, creates_users=True, default_role=Role.REVIEWER)}
