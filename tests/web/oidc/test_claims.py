"""What claims mean."""

from typing import Any

import pytest

from salvo.playbooks.accounts.users import Role
from salvo.web.oidc.claims import claimed_user, find_claim
from tests.support.oidc import settings


@pytest.mark.parametrize(
    "claim, value",
    [
        ("groups", ["a"]),
        ("realm_access.roles", ["b"]),
        ("https://example.com/roles", ["c"]),
        ("realm_access.roles.x", None),
        ("nothing", None),
    ],
)
def test_a_claim_is_found_by_its_name_or_by_a_path(claim: str, value: Any) -> None:
    claims = {"groups": ["a"], "realm_access": {"roles": ["b"]}, "https://example.com/roles": ["c"]}
    assert find_claim(claims, claim) == value


@pytest.mark.parametrize("value", [None, 7, {"lawyers": True}, [["lawyers"], 1, None], "Lawyers", []])
def test_a_strange_value_of_the_role_claim_gives_no_role(value: Any) -> None:
    oidc = settings("https://login.example.com", role_claim="groups", roles={"lawyers": Role.ADMIN})
    assert claimed_user({"sub": "x", "groups": value}, oidc).role is None
