"""Logging in with an OIDC provider on the page: beside passwords, instead of them, and when it is refused."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from salvo.engine.runtime.clock import SystemClock
from salvo.playbooks.accounts.users import Role
from salvo.playbooks.store.store import EvaluationStore
from tests.e2e.conftest import ServeHere, Visit
from tests.support.accounts import add_user
from tests.support.browser import assert_accessible
from tests.support.oidc import ADA_SUBJECT, mock_provider, settings

REFUSED = "status of 40[13]"
STYLES_OF_THE_PROVIDER = r"cdn\.jsdelivr\.net"
"""The provider's own page asks for them; no test reaches the network."""
ADA = "Ada Brown"
LOG_IN = "Log in with Example Login"


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def authorize(page: Page, subject: str = ADA_SUBJECT) -> None:
    """What a person does at oidc-provider-mock."""
    page.get_by_placeholder("sub").fill(subject)
    page.get_by_role("button", name="Authorize").click()


@pytest.mark.parametrize("width", [1440, 390])
def test_people_log_in_with_the_provider_and_come_back_to_the_page_they_wanted(
    serve_here: ServeHere, visit: Visit, tmp_path: Path, width: int
) -> None:
    url = f"sqlite:///{tmp_path / 'byop_runs.db'}"
    add_user(url, "Bob", Role.READER)
    with mock_provider({"sub": ADA_SUBJECT, "preferred_username": ADA, "groups": ["lawyers"]}) as issuer:
        oidc = settings(issuer, creates_users=True, role_claim="groups", roles={"lawyers": Role.REVIEWER})
        visitor = visit(serve_here(oidc=oidc), logged_in=False, viewport={"width": width, "height": 900})
        visitor.forgive(f"{REFUSED}|{re.escape(issuer)}|{STYLES_OF_THE_PROVIDER}")
        page = visitor.open("/history")
        expect(page.get_by_role("form", name="Log in")).to_be_visible()  # with a password
        expect(page.get_by_role("button", name=LOG_IN)).to_be_visible()
        assert_accessible(page)
        picture(page, f"oidc-login-{width}")
        page.get_by_role("button", name=LOG_IN).click()
        authorize(page)
        expect(page.get_by_role("heading", level=1, name="History")).to_be_visible()
        assert page.url == f"{visitor.url}/history"
        cookies = [cookie["name"] for cookie in visitor.context.cookies(visitor.url)]
        assert not [name for name in cookies if name.startswith("salvo_oidc")]
        page.get_by_role("link", name=ADA).click()
        expect(page.get_by_text("You log in with the login provider, so you have no password here.")).to_be_visible()
        assert_accessible(page)
        page.go_back()
        expect(page.get_by_role("heading", level=1, name="History")).to_be_visible()
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_role("button", name=LOG_IN)).to_be_visible()


def test_where_passwords_are_switched_off_there_is_the_provider_alone_and_a_refusal_says_why(
    serve_here: ServeHere, visit: Visit, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'byop_runs.db'}"
    add_user(url, "Bob", Role.READER)
    with mock_provider({"sub": ADA_SUBJECT, "preferred_username": ADA}) as issuer:
        oidc = settings(issuer, creates_users=True, default_role=Role.READER, is_only_login=True)
        visitor = visit(serve_here(oidc=oidc), logged_in=False, viewport={"width": 1280, "height": 800})
        visitor.forgive(f"{REFUSED}|{re.escape(issuer)}|{STYLES_OF_THE_PROVIDER}")
        page = visitor.open()
        page.get_by_role("button", name=LOG_IN).click()
        expect(page.get_by_role("form", name="Log in")).to_have_count(0)
        page.get_by_role("button", name="Deny").click()
        expect(page.get_by_role("heading", level=1, name="You are not logged in")).to_be_visible()
        expect(page.get_by_text("The login provider did not log you in, or you cancelled it.")).to_be_visible()
        assert page.url == f"{visitor.url}/login/oidc"  # without what was in the address
        assert_accessible(page)
        picture(page, "oidc-refused")
        page.get_by_role("link", name="Back to the login").click()
        page.get_by_role("button", name=LOG_IN).click()
        authorize(page)
        expect(page.get_by_role("link", name=ADA)).to_be_visible()
        with EvaluationStore.open(url, SystemClock()) as store:
            store.accounts.users.set_disabled(ADA, disabled=True)
        page.reload()
        page.get_by_role("button", name=LOG_IN).click()
        authorize(page)
        expect(page.get_by_role("alert")).to_contain_text("you cannot log in here: your account is disabled.")
