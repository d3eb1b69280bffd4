"""The list of revoked keys, and keys that replaced others: what `byop verify FILE` and --sign make of them."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from salvo.cli.byop import byop
from salvo.cli.byop.database import open_store
from salvo.cli.salvo import salvo
from salvo.errors import InputError
from salvo.playbooks.audit import signing
from salvo.playbooks.report import export
from salvo.playbooks.store.store import EvaluationStore
from tests.support.playbooks import a_report
from tests.support.stored_evaluations import NAMES, Byop, finish_evaluation

KEY_FILE = Path("settings/salvo/byop-signing-key.pem")
LIST = KEY_FILE.with_name("byop-revoked-keys.jsonl")


def signed_report(key: Path) -> str:
    """A report file that the key signed; nothing is stored of it."""
    Path("report.json").write_text(export.signed_json(a_report(), signing.read_key(key)))
    return "report.json"


def test_a_report_signed_by_a_revoked_key_is_reported_as_such_without_a_database(run: Byop, folder: Path) -> None:
    public = run("keys", "new").stdout.strip()
    report = signed_report(KEY_FILE)
    assert run("verify", report, "--public-key", public).exit_code == 0
    revoked = run("keys", "revoke", public, "--reason", "stolen laptop")
    assert (revoked.exit_code, "There is no database here" in revoked.stdout) == (0, True)
    shown = run("verify", report)
    assert (
        shown.exit_code,
        f"unknown  signature  The file was signed with the key {public}, which was revoked" in shown.stdout,
    ) == (0, True)
    assert "(stolen laptop): whoever has that key could have signed the file at any time." in shown.stdout
    assert run("verify", report, "--public-key", public).exit_code == 1
    assert not (folder / "byop_runs.db").exists()
    if os.name == "posix":
        assert LIST.stat().st_mode & 0o077 == 0


def test_nothing_is_signed_with_a_revoked_key(
    run: Byop, store: EvaluationStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish_evaluation(store, NAMES[0])
    public = run("keys", "new", "key.pem").stdout.strip()
    assert run("keys", "revoke", public, "--reason", "stolen laptop").exit_code == 0
    refused = run("show", "latest", "--sign=key.pem", "-o", "a.json")
    assert (refused.exit_code, "so nothing is signed with it" in refused.stderr) == (2, True)
    assert not (folder / "a.json").exists()
    assert run("keys", "rotate", "key.pem").exit_code == 2
    monkeypatch.setenv("BYOP_SIGNING_KEY", "key.pem")
    before = store.audit_log()
    refused = run("baseline", "set", "latest")
    assert (refused.exit_code, "so nothing is signed with it" in refused.stderr) == (2, True)
    assert (store.audit_log(), store.head_signatures()) == (before, [])


def test_a_program_that_runs_for_long_stops_signing_when_its_key_is_revoked(
    run: Byop, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = run("keys", "new", "key.pem").stdout.strip()
    monkeypatch.setenv("BYOP_SIGNING_KEY", "key.pem")
    with open_store(make=True) as opened:
        finish_evaluation(opened, NAMES[0])
        signatures = opened.head_signatures()
        assert signatures
        assert run("keys", "revoke", public, "--reason", "stolen laptop").exit_code == 0
        with pytest.raises(InputError, match="so nothing is signed with it"):
            opened.set_baseline(NAMES[0])
        assert opened.head_signatures() == signatures


def test_a_log_that_does_not_know_a_revocation_is_not_trusted_where_the_list_does(
    run: Byop, store: EvaluationStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = run("keys", "new").stdout.strip()
    finish_evaluation(store, NAMES[0])
    assert run("show", "latest", "-o", "a.md").exit_code == 0
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run("keys", "revoke", public, "--reason", "stolen laptop").exit_code == 0
    monkeypatch.chdir(folder)
    assert f"signed only by {public}, which was revoked on" in run("verify").stdout
    shown = run("verify", "--public-key", public)
    assert (shown.exit_code, "The key that you named" in shown.stdout) == (1, True)


def test_the_first_revocation_stands_and_a_damaged_list_is_an_error(run: Byop, folder: Path) -> None:
    public = run("keys", "new", "key.pem").stdout.strip()
    for reason in ("first", "second"):
        assert run("keys", "revoke", public, "--reason", reason).exit_code == 0
    assert LIST.read_text().count("\n") == 1
    report = signed_report(Path("key.pem"))
    assert "(first)" in run("verify", report).stdout
    LIST.write_text(LIST.read_text().rstrip("\n"))  # an editor may leave out the last line end
    other = run("keys", "new", "other.pem").stdout.strip()
    assert run("keys", "revoke", other, "--reason", "third").exit_code == 0
    assert "(third)" in run("verify", signed_report(Path("other.pem"))).stdout
    for damage in ('{"public_key": 1, "reason": "", "at": ""}\n', "{}\n", "key\n"):
        LIST.write_text(damage)
        refused = run("verify", report)
        assert (refused.exit_code, "Line 1 of the list of revoked keys" in refused.stderr) == (2, True)


def test_a_report_signed_by_the_replacement_of_the_named_key_holds_where_the_statement_is_at_hand(
    run: Byop, store: EvaluationStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = run("keys", "new").stdout.strip()
    finish_evaluation(store, NAMES[0])
    new = run("keys", "rotate").stdout.strip()
    assert run("show", "latest", "--sign", "-o", "a.json", "-o", "a.md").exit_code == 0
    for name in ("a.json", "a.md"):
        shown = run("verify", name, "--public-key", old)
        assert (shown.exit_code, f"signed with the key {new}." in shown.stdout) == (0, True)
        assert f"That key replaced the one that you named, {old}, by a statement" in shown.stdout
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{folder / 'none.db'}")
    shown = run("verify", "a.json", "--public-key", old)
    assert (shown.exit_code, f"signed with a different key: {new}, not {old}." in shown.stdout) == (1, True)


def test_a_statement_of_a_key_that_only_the_list_revokes_is_not_followed(
    run: Byop, store: EvaluationStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = run("keys", "new").stdout.strip()
    finish_evaluation(store, NAMES[0])
    run("keys", "rotate")
    assert run("show", "latest", "--sign", "-o", "a.json").exit_code == 0
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{folder / 'none.db'}")
    assert run("keys", "revoke", old, "--reason", "stolen laptop").exit_code == 0
    monkeypatch.delenv("DATABASE_URL")
    assert run("verify", "a.json", "--public-key", old).exit_code == 1
    assert run("verify", "--public-key", old).exit_code == 1


@pytest.mark.parametrize("command", ["byop serve", "salvo dashboard"])
def test_the_server_does_not_start_with_a_key_that_it_cannot_use(
    run: Byop, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    public = run("keys", "new", "key.pem").stdout.strip()
    assert run("keys", "revoke", public, "--reason", "stolen laptop").exit_code == 0
    monkeypatch.setenv("BYOP_SIGNING_KEY", "key.pem")
    program, name = command.split()
    refused = CliRunner().invoke(byop if program == "byop" else salvo, [name, "--no-open", "--port", "0"])
    assert (refused.exit_code, "so nothing is signed with it" in refused.stderr) == (2, True)
