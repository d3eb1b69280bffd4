"""`byop user`: users are added, listed, disabled and get new passwords."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from salvo.cli.byop import byop
from salvo.playbooks.accounts import passwords


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)


def user(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(byop, ["user", *arguments], input=stdin)


def test_an_added_user_gets_a_password_that_is_printed_once_and_not_stored(tmp_path: Path) -> None:
    added = user("add", "Ada Brown", "--role", "admin")
    assert (added.exit_code, added.stderr.startswith("Ada Brown can log in as admin.")) == (0, True)
    password = added.stdout.strip()
    assert len(password) >= 20
    assert password.encode() not in (tmp_path / "byop_runs.db").read_bytes()
    [listed] = json.loads(user("list", "--json").stdout)
    assert (listed["name"], listed["role"], listed["disabled"]) == ("Ada Brown", "admin", False)
    assert "password_hash" not in listed


def test_a_user_is_disabled_enabled_and_given_another_role() -> None:
    user("add", "Bob")
    assert user("disable", "bob").stdout == "Bob can no longer log in.\n"
    assert user("list").stdout == "Bob  reviewer  disabled\n"
    assert user("enable", "Bob").stdout == "Bob can log in again, as reviewer.\n"
    assert user("role", "Bob", "reader").stdout == "Bob has the role reader.\n"
    actions = [line.split()[2] for line in CliRunner().invoke(byop, ["audit"]).stdout.splitlines()[1:]]
    assert actions == ["user_added", "user_disabled", "user_enabled", "user_role_changed"]
    assert CliRunner().invoke(byop, ["verify", "--all"]).exit_code == 0


def test_a_password_can_be_given_and_is_replaced_by_a_reset() -> None:
    assert (
        user("add", "Bob", "--password-stdin", stdin="four words nobody links\n").stdout
        == "Bob can log in as reviewer.\n"
    )
    reset = user("reset-password", "Bob")
    assert (reset.exit_code, reset.stderr.startswith("Bob has a new password.")) == (0, True)


@pytest.mark.parametrize("password", ["short", "aaaaaaaaaaaaaaaa", "", "Barbara Brown"])
def test_a_password_that_is_easy_to_guess_is_refused(password: str) -> None:
    refused = user("add", "Barbara Brown", "--password-stdin", stdin=f"{password}\n")
    assert refused.exit_code == 2
    assert user("list").exit_code != 0  # and there is no such user


@pytest.mark.parametrize("name", ["", "local", "LOCAL", "a\nb\u202e", "x" * 101])
def test_a_name_that_cannot_be_told_apart_or_shown_is_refused(name: str) -> None:
    assert user("add", name).exit_code == 2


def test_nobody_gets_a_name_that_differs_in_case_only() -> None:
    user("add", "Ada Brown")
    again = user("add", "ada  BROWN")
    assert (again.exit_code, "already" in again.stderr) == (2, True)


@pytest.mark.parametrize("command", ["disable", "enable", "reset-password"])
def test_an_unknown_user_is_named(command: str) -> None:
    user("add", "Ada")
    unknown = user(command, "Bob")
    assert (unknown.exit_code, "There is no user 'Bob'." in unknown.stderr) == (2, True)


def test_a_hash_is_no_password_of_anybody_without_one() -> None:
    assert not passwords.is_password("anything at all", None)
    assert not passwords.is_password("anything at all", "no hash")
