"""Whose account a login with an OIDC provider opens, with which role, and in whose name it is recorded."""

from collections.abc import Callable
from typing import Any

import pytest

from salvo.engine.runtime.clock import SystemClock
from salvo.playbooks.accounts.oidc_accounts import OidcAccounts
from salvo.playbooks.accounts.users import OidcIdentity, Role
from salvo.playbooks.store.store import EvaluationStore
from tests.support.accounts import PASSWORD, add_user, log_in, log_of
from tests.support.oidc import (
    ADA_SUBJECT,
    ScriptedOidcProvider,
    oidc_browser,
    settings,
)
from tests.support.web import WebServer

Serve = Callable[..., WebServer]
ADA = "Ada Brown"


async def test_the_account_is_found_by_issuer_and_subject_whatever_the_name(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any], url: str
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        assert (await browser.log_in(provider)).status == 200
        provider.claims = {"sub": ADA_SUBJECT, "preferred_username": "Ada Lovelace"}
        assert (await browser.log_in(provider)).status == 200
        assert (await browser.session())["user"] == ADA
    assert [entry["action"] for entry in log_of(url)] == ["user_added", "user_logged_in", "user_logged_in"]
    [added] = log_of(url, "user_added")
    assert (added["by"], added["user"], added["role"]) == (provider.issuer, ADA, "reviewer")
    assert (added["oidc_issuer"], added["oidc_subject"]) == (provider.issuer, ADA_SUBJECT)
    assert {(entry["user"], entry["login_method"]) for entry in log_of(url, "user_logged_in")} == {(ADA, "oidc")}


async def test_a_local_account_of_the_same_name_is_not_taken_over(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any], url: str
) -> None:
    add_user(url, ADA, Role.ADMIN)
    async with oidc_browser(serve(**open_settings)) as browser:
        for name in (ADA, "ada brown", "\uff21da  Brown"):
            provider.claims["preferred_username"] = name
            refused = await browser.log_in(provider)
            assert (refused.status, refused.code) == (403, "forbidden"), name
            assert "another account here has your name" in refused.json()["error"]["message"]
            assert (await browser.api.ask("GET", "/api/session")).status == 401
    refusals = [(entry["reason"], entry["oidc_subject"]) for entry in log_of(url, "login_refused")]
    assert refusals == [("another account has their name", ADA_SUBJECT)] * 3


async def test_the_same_e_mail_address_at_another_subject_or_issuer_is_somebody_else(
    serve: Serve, provider: ScriptedOidcProvider, url: str
) -> None:
    oidc = settings(provider.issuer, creates_users=True, default_role=Role.READER, name_claim="email")
    provider.claims = {"sub": "ada", "email": "ada@example.com", "email_verified": True}
    with EvaluationStore.open(url, SystemClock()) as store:
        store.accounts.users.add("Other", Role.ADMIN, None, OidcIdentity("https://other.example", "ada"))
    async with oidc_browser(serve(oidc=oidc)) as browser:
        assert (await browser.log_in(provider)).status == 200
        session = await browser.session()
        assert (session["user"], session["role"]) == ("ada@example.com", "reader")
        provider.claims = {"sub": "not-ada", "email": "ada@example.com", "email_verified": True}
        assert (await browser.log_in(provider)).status == 403


async def test_a_name_that_cannot_be_used_is_refused(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        for name in (None, "", 7, "a\x1b[2Jb", "local", "x" * 101):
            provider.claims["preferred_username"] = name
            refused = await browser.log_in(provider)
            assert (refused.status, refused.code) == (403, "forbidden"), name
            assert "it gives no name that can be used here" in refused.json()["error"]["message"]


@pytest.mark.parametrize("verified", [False, "false", 0])
async def test_an_e_mail_address_that_is_not_verified_is_no_name(
    serve: Serve, provider: ScriptedOidcProvider, verified: object
) -> None:
    oidc = settings(provider.issuer, creates_users=True, default_role=Role.READER, name_claim="email")
    provider.claims = {"sub": "eve", "email": "ada@example.com", "email_verified": verified}
    async with oidc_browser(serve(oidc=oidc)) as browser:
        assert (await browser.log_in(provider)).status == 403


async def test_without_leave_to_make_accounts_only_linked_users_log_in(
    serve: Serve, provider: ScriptedOidcProvider, url: str
) -> None:
    add_user(url, "Ada", Role.ADMIN)
    async with oidc_browser(serve(oidc=settings(provider.issuer))) as browser:
        refused = await browser.log_in(provider)
        assert (refused.status, refused.code) == (403, "forbidden")
        [entry] = log_of(url, "login_refused")
        with EvaluationStore.open(url, SystemClock()) as store:
            store.accounts.users.link("Ada", OidcIdentity(entry["oidc_issuer"], entry["oidc_subject"]))
        assert (await browser.log_in(provider)).status == 200
        session = await browser.session()
        assert (session["user"], session["role"], session["has_password"]) == ("Ada", "admin", True)


async def test_who_is_unlinked_during_a_login_is_not_logged_in(
    serve: Serve,
    provider: ScriptedOidcProvider,
    open_settings: dict[str, Any],
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def admit(*arguments: Any, **options: Any) -> Any:
        admitted = admit_as_before(*arguments, **options)
        with EvaluationStore.open(url, SystemClock()) as store:
            store.accounts.users.unlink(ADA)
        return admitted

    admit_as_before = OidcAccounts.admit
    monkeypatch.setattr(OidcAccounts, "admit", admit)
    async with oidc_browser(serve(**open_settings)) as browser:
        refused = await browser.log_in(provider)
        assert (refused.status, refused.code) == (403, "forbidden")
        assert (await browser.api.ask("GET", "/api/session")).status == 401


async def test_who_is_disabled_here_cannot_log_in(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any], url: str
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser, oidc_browser(serve(**open_settings)) as again:
        assert (await browser.log_in(provider)).status == 200
        with EvaluationStore.open(url, SystemClock()) as store:
            store.accounts.users.set_disabled(ADA, disabled=True)
        assert (await browser.api.ask("GET", "/api/session")).status == 401
        refused = await again.log_in(provider)
        assert "your account is disabled" in refused.json()["error"]["message"]
    [entry] = log_of(url, "login_refused")
    assert (entry["user"], entry["reason"]) == (ADA, "their account is disabled")


async def test_the_claim_decides_about_the_role_at_every_login(
    serve: Serve, provider: ScriptedOidcProvider, url: str
) -> None:
    roles = {"partners": Role.ADMIN, "lawyers": Role.REVIEWER}
    oidc = settings(provider.issuer, creates_users=True, role_claim="groups", roles=roles)
    server = serve(oidc=oidc)
    async with oidc_browser(server) as browser, oidc_browser(server) as again:
        for groups, role in (
            (["lawyers", "x"], "reviewer"),
            (["lawyers", "partners"], "admin"),
            ("lawyers", "reviewer"),
        ):
            provider.claims["groups"] = groups
            assert (await browser.log_in(provider)).status == 200
            assert (await browser.session())["role"] == role
        provider.claims["groups"] = ["interns"]
        refused = await again.log_in(provider)
        assert "you have no role here" in refused.json()["error"]["message"]
        assert (await browser.api.ask("GET", "/api/session")).status == 401  # their other sessions end, too
    changed = log_of(url, "user_role_changed")
    assert [(entry["by"], entry["user"], entry["role"]) for entry in changed] == [
        (provider.issuer, ADA, "admin"),
        (provider.issuer, ADA, "reviewer"),
    ]


async def test_without_a_claim_for_it_an_administrator_decides_about_the_role(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any], url: str
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        await browser.log_in(provider)
        with EvaluationStore.open(url, SystemClock()) as store:
            store.accounts.users.set_role(ADA, Role.READER)
        assert (await browser.log_in(provider)).status == 200
        assert (await browser.session())["role"] == "reader"


# What they do here.


async def test_what_such_a_user_does_is_recorded_as_authenticated(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        await browser.log_in(provider)
        report_id = (await browser.api.report(reviewer="Somebody else"))["report"]["report_id"]
        path = f"/api/reports/{report_id}/review"
        signed = await browser.api.ask("POST", path, {"action": "sign_off"})
        assert signed.json()["sign_offs"][0]["sentence"].startswith("Signed off by Ada Brown, ")
        assert "not authenticated" not in str(signed.json()["sign_offs"])
        shown = [row["description"] for row in (await browser.api.get("/api/audit-log"))["rows"]]
        assert ("Login", ADA, True, "Ada Brown, by oidc") in [
            (one["title"], one["who"], one["authenticated"], one["details"]) for one in shown
        ]
        assert (await browser.api.get("/api/verify"))["failed"] == 0


async def test_with_passwords_switched_off_only_the_provider_logs_in(
    serve: Serve, provider: ScriptedOidcProvider, url: str
) -> None:
    add_user(url, ADA, Role.ADMIN)
    with EvaluationStore.open(url, SystemClock()) as store:
        store.accounts.users.link(ADA, OidcIdentity(provider.issuer, ADA_SUBJECT))
    async with oidc_browser(serve(oidc=settings(provider.issuer, is_only_login=True))) as browser:
        assert await browser.api.get("/api/login") == {"passwords": False, "provider": "Example Login"}
        refused = await log_in(browser.api, ADA)
        assert (refused.status, refused.code) == (403, "forbidden")
        assert (await browser.log_in(provider)).status == 200
        assert (await browser.session())["has_password"] is False
        change = {"current": PASSWORD, "new": "an entirely different sentence"}
        assert (await browser.api.ask("POST", "/api/session/password", change)).status == 403


async def test_who_has_no_password_cannot_change_or_guess_one(
    serve: Serve, provider: ScriptedOidcProvider, open_settings: dict[str, Any]
) -> None:
    async with oidc_browser(serve(**open_settings)) as browser:
        await browser.log_in(provider)
        change = {"current": "x", "new": "an entirely different sentence"}
        refused = await browser.api.ask("POST", "/api/session/password", change)
        assert (refused.status, refused.code) == (409, "conflict")
        assert (await log_in(browser.api, ADA)).status == 403


async def test_without_a_provider_nobody_logs_in_with_one(serve: Serve) -> None:
    async with oidc_browser(serve()) as browser:
        assert (await browser.api.get("/api/login"))["provider"] is None
        for path, body in (("/api/login/oidc", {}), ("/api/login/oidc/callback", {"state": "x", "code": "y"})):
            refused = await browser.ask(path, body)
            assert (refused.status, refused.code) == (409, "conflict")
