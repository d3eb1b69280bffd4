"""The signed audit log: `byop keys`, `byop verify`, and a log that somebody with write access rebuilt."""

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from salvo.playbooks.audit import audit_log
from salvo.playbooks.audit.audit_log import AuditEntry
from salvo.playbooks.store.store import EvaluationStore
from tests.support.stored_evaluations import NAMES, Byop, finish_evaluation

KEY_FILE = Path("settings/salvo/byop-signing-key.pem")


def evaluated(store: EvaluationStore, run: Byop) -> None:
    """An evaluation, and an export that the command records."""
    finish_evaluation(store, NAMES[0])
    assert run("show", "latest", "-o", "a.md").exit_code == 0


def rebuild_log(folder: Path) -> None:
    """Change the oldest entry, and make every hash after it again, as somebody with write access can."""
    with closing(sqlite3.connect(folder / "byop_runs.db")) as database:
        previous: AuditEntry | None = None
        query = "SELECT sequence, entry, hash FROM byop_audit ORDER BY sequence"
        for sequence, text, stored_hash in database.execute(query).fetchall():
            content = dict(AuditEntry(sequence, text, stored_hash).content)
            if previous is None:
                content["at"] = "2020-01-01T00:00:00.000+00:00"
            previous = audit_log.seal(content, previous)
            change = "UPDATE byop_audit SET entry = ?, hash = ? WHERE sequence = ?"
            database.execute(change, (previous.text, previous.hash, sequence))
        database.commit()


def test_a_rebuilt_log_is_consistent_where_nothing_is_signed_and_the_words_say_so(
    run: Byop, store: EvaluationStore, folder: Path
) -> None:
    evaluated(store, run)
    rebuild_log(folder)
    shown = run("verify")
    assert shown.exit_code == 0
    assert (
        "unknown  log signed The audit log is not signed, so somebody with write access to the database could have "
        "rebuilt it.\n\nConsistent with the audit log. The audit log is not signed, so somebody with write access to the "
        "database could have rebuilt it.\n"
    ) in shown.stdout


def test_a_rebuilt_log_is_detected_where_it_was_signed(run: Byop, store: EvaluationStore, folder: Path) -> None:
    public = run("keys", "new").stdout.strip()
    evaluated(store, run)
    assert f"The audit log is signed by {public} up to entry 3." in run("verify").stdout
    assert run("verify", "--public-key", public).exit_code == 0
    rebuild_log(folder)
    shown = run("verify")
    assert (shown.exit_code, "The audit log was rebuilt: entry 3 was signed as sha256:" in shown.stdout) == (1, True)


def test_removed_signatures_are_detected_by_whoever_knows_the_key(
    run: Byop, store: EvaluationStore, folder: Path
) -> None:
    public = run("keys", "new").stdout.strip()
    evaluated(store, run)
    with closing(sqlite3.connect(folder / "byop_runs.db")) as database:
        database.execute("DELETE FROM byop_audit_signatures")
        database.commit()
    assert run("verify").exit_code == 0
    shown = run("verify", "--public-key", public)
    assert (shown.exit_code, "is not signed by the key that you named" in shown.stdout) == (1, True)


def test_entries_after_the_last_signature_are_named(run: Byop, store: EvaluationStore) -> None:
    public = run("keys", "new").stdout.strip()
    evaluated(store, run)
    store.set_baseline(NAMES[0])  # by a program without the key
    assert f"is signed by {public} up to entry 3; entries after 3 are not signed" in run("verify").stdout


@pytest.mark.parametrize("column", ["sequence", "public_key", "statement", "value"])
def test_every_column_of_a_signature_is_evidence(column: str, run: Byop, store: EvaluationStore, folder: Path) -> None:
    run("keys", "new")
    evaluated(store, run)
    assert run("verify").exit_code == 0
    changed = "sequence + 7" if column == "sequence" else f"replace({column}, substr({column}, 9, 1), '_')"
    with closing(sqlite3.connect(folder / "byop_runs.db")) as database:
        database.execute(f"UPDATE byop_audit_signatures SET {column} = {changed}")  # noqa: S608 - columns of ours
        database.commit()
    assert run("verify").exit_code == 1


def test_a_replaced_key_vouches_for_the_new_one(run: Byop, store: EvaluationStore) -> None:
    old = run("keys", "new").stdout.strip()
    evaluated(store, run)
    new = run("keys", "rotate").stdout.strip()
    assert run("keys", "show").stdout.strip() == new != old
    assert run("show", "latest", "-o", "b.md").exit_code == 0
    shown = run("verify", "--public-key", old)
    assert shown.exit_code == 0
    assert f"signed by {new} up to entry 5. That key replaced {old}, by a statement that it signed." in shown.stdout
    assert run("verify", "--public-key", new).exit_code == 0


def test_a_replacement_that_the_old_key_did_not_sign_is_not_believed(run: Byop, store: EvaluationStore) -> None:
    old = run("keys", "new").stdout.strip()
    evaluated(store, run)
    KEY_FILE.rename("old.pem")
    new = run("keys", "new").stdout.strip()
    store.record_key(audit_log.KEY_ROTATED, old, "2026-11-16T00:00:00", replaced_by=new, signature="A" * 86 + "==")
    assert run("show", "latest", "-o", "b.md").exit_code == 0
    assert f"signed by {old} up to entry 3; entries after 3" in run("verify", "--public-key", old).stdout


def test_signatures_of_a_revoked_key_are_findings(
    run: Byop, store: EvaluationStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = run("keys", "new").stdout.strip()
    evaluated(store, run)
    revoked = run("keys", "revoke", public, "--reason", "stolen laptop")
    assert (revoked.exit_code, KEY_FILE.exists()) == (0, False)
    shown = run("verify")
    assert (shown.exit_code, f"signed only by {public}, which was revoked on" in shown.stdout) == (0, True)
    assert run("verify", "--public-key", public).exit_code == 1
    [aside] = KEY_FILE.parent.glob("*.pem")
    monkeypatch.setenv("BYOP_SIGNING_KEY", str(aside.absolute()))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "thief"))  # a machine that does not know the revocation
    assert run("show", "latest", "-o", "b.md").exit_code == 0
    shown = run("verify")
    assert (shown.exit_code, "was made after that key was revoked (entry 4," in shown.stdout) == (1, True)


def test_an_unusable_key_is_said_before_anything_is_run(run: Byop, folder: Path) -> None:
    run("keys", "new")
    KEY_FILE.chmod(0o644)
    (folder / "output.md").write_text("text")
    refused = run("run", "output.md", "--evaluator", "rules")
    assert (refused.exit_code, "can be read by other users" in refused.stderr) == (2, True)
    assert not (folder / "byop_runs.db").exists()


def test_a_rebuilt_log_is_detected_where_a_head_was_kept(run: Byop, store: EvaluationStore, folder: Path) -> None:
    evaluated(store, run)
    assert run("audit", "--witness", "kept.jsonl").exit_code == 0
    store.set_baseline(NAMES[0])
    assert run("audit", "--witness", "kept.jsonl").exit_code == 0
    shown = run("verify", "--witness", "kept.jsonl")
    assert (shown.exit_code, "Anchored in kept.jsonl: entry 4, on " in shown.stdout) == (0, True)
    rebuild_log(folder)
    assert run("verify").exit_code == 0
    shown = run("verify", "--witness", "kept.jsonl")
    assert (shown.exit_code, "The audit log was rebuilt: entry 3 was kept on " in shown.stdout) == (1, True)
    assert run("audit", "--witness", "kept.jsonl").exit_code == 2
    (folder / "kept.jsonl").write_text('{"sequence": 1, "sequence": 2}\n')
    assert run("verify", "--witness", "kept.jsonl").exit_code == 2


def test_a_rebuilt_log_is_detected_where_a_head_was_committed(
    run: Byop, store: EvaluationStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.com")
    repository = folder / "evidence"
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    kept = repository / "heads.jsonl"
    evaluated(store, run)
    assert run("verify", "--git", str(kept)).exit_code == 2
    for _ in range(2):
        assert run("audit", "--git", str(kept)).exit_code == 0
        store.record_export(NAMES[0], "html", b"")
    shown = run("verify", "--git", str(kept))
    assert (shown.exit_code, "The log has all 2 heads that were committed." in shown.stdout) == (0, True)
    rebuild_log(folder)
    shown = run("verify", "--git", str(kept))
    assert (shown.exit_code, "The audit log was rebuilt: entry 3 was kept on " in shown.stdout) == (1, True)
    kept.write_bytes(b"".join(kept.read_bytes().splitlines(keepends=True)[1:]))
    subprocess.run(["git", "-C", repository, "commit", "--quiet", "-am", "less"], check=True)
    assert "removed or changed heads that were committed" in run("verify", "--git", str(kept)).stdout


@pytest.mark.skipif(os.name != "posix", reason="the program of the repository is a shell script")
def test_a_strangers_repository_does_not_choose_programs(
    run: Byop, store: EvaluationStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.com")
    repository, executed, program = folder / "evidence", folder / "executed", folder / "program"
    program.write_text(
        f"#!/bin/sh\ntouch {executed}\ncat > /dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\n"
        "echo '-----BEGIN PGP SIGNATURE-----'\necho '-----END PGP SIGNATURE-----'\n"
    )
    program.chmod(0o755)
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    evaluated(store, run)
    assert run("audit", "--git", str(repository / "heads.jsonl")).exit_code == 0
    git = ["git", "-C", str(repository)]
    for setting in ("gpg.program", "core.fsmonitor", "diff.x.command", "diff.x.textconv", "core.pager"):
        subprocess.run([*git, "config", setting, program], check=True)
    (repository / ".git/info/attributes").write_text("* diff=x\n")
    subprocess.run([*git, "config", "log.showSignature", "true"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--amend", "--no-edit", "--gpg-sign"], check=True)
    executed.unlink()
    shown = run("verify", "--git", str(repository / "heads.jsonl"))
    assert (shown.exit_code, "Anchored in the git commit " in shown.stdout) == (0, True)
    assert not executed.exists()


def test_a_signed_log_whose_newest_entries_were_removed_is_detected_only_where_a_head_was_kept(
    run: Byop, store: EvaluationStore, folder: Path
) -> None:
    run("keys", "new")
    evaluated(store, run)
    assert run("show", "latest", "-o", "b.md").exit_code == 0
    assert run("audit", "--witness", "kept.jsonl").exit_code == 0
    with closing(sqlite3.connect(folder / "byop_runs.db")) as database:
        for table in ("byop_audit", "byop_audit_signatures"):
            database.execute(f"DELETE FROM {table} WHERE sequence = 4")  # noqa: S608 - one of the two names above
        database.commit()
    shown = run("verify", "--all")
    assert shown.exit_code == 0
    assert "Signatures do not show whether the newest entries were removed" in shown.stdout
    shown = run("verify", "--all", "--witness", "kept.jsonl")
    assert (shown.exit_code, "The audit log was truncated: entry 4 was kept on " in shown.stdout) == (1, True)


_FIRST_TABLES = (
    "byop_version",
    "byop_playbooks",
    "byop_evaluations",
    "byop_votes",
    "byop_baselines",
    "byop_audit",
)
"""Those of a database of the first version."""


def test_a_database_of_the_first_version_is_brought_up_to_date_and_signed_from_then_on(
    run: Byop, store: EvaluationStore, folder: Path
) -> None:
    finish_evaluation(store, NAMES[0])
    with closing(sqlite3.connect(folder / "byop_runs.db")) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            if table not in _FIRST_TABLES:
                database.execute(f"DROP TABLE {table}")
        database.executescript(
            """
            DROP INDEX byop_evaluations_by_group;
            DROP INDEX byop_evaluations_listed;
            DROP INDEX byop_evaluations_running;
            DROP INDEX byop_evaluations_by_token;
            ALTER TABLE byop_evaluations DROP COLUMN lease_until;
            ALTER TABLE byop_evaluations DROP COLUMN began_at;
            ALTER TABLE byop_evaluations DROP COLUMN turn;
            ALTER TABLE byop_evaluations DROP COLUMN client;
            ALTER TABLE byop_evaluations DROP COLUMN requirement;
            ALTER TABLE byop_evaluations DROP COLUMN client_token;
            CREATE INDEX byop_evaluations_by_state ON byop_evaluations (state);
            UPDATE byop_version SET version_num = '0001';
            """
        )
    public = run("keys", "new").stdout.strip()
    assert "is not signed, so somebody" in run("verify").stdout
    assert run("show", "latest", "-o", "a.md").exit_code == 0
    assert f"signed by {public} up to entry 3." in run("verify", "--public-key", public).stdout
