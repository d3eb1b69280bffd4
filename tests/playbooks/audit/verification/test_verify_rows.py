"""Whatever column of whatever table is altered, `verify` says so; on both databases."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Boolean, Column, Float, Integer, Table, text

from salvo.engine.jsonio.canonical import sha256
from salvo.playbooks.accounts.users import OidcIdentity, Role
from salvo.playbooks.audit import chain_signatures, signing
from salvo.playbooks.audit.verification import verify_store
from salvo.playbooks.audit.verification.finding import VerificationFinding, VerificationState
from salvo.playbooks.documents.matrix import DocumentBatch, UnreadDocument
from salvo.playbooks.report.report import DocumentIdentity
from salvo.playbooks.store.records import ErrorDetail
from salvo.playbooks.store.store import EvaluationStore
from salvo.playbooks.store.tables import NOT_EVIDENCE, metadata
from tests.support.clock import HeldClock
from tests.support.playbooks import a_playbook, a_vote
from tests.support.reviews import override
from tests.support.stored_evaluations import begin_evaluation, finish_evaluation

TABLES = {table.name: table for table in metadata.sorted_tables}
COLUMNS = [(name, column.name) for name, table in TABLES.items() for column in table.c]
EVIDENCE = [(table, column) for table, column in COLUMNS if column not in NOT_EVIDENCE.get(table, {})]


BATCH = DocumentBatch("batch-0001", "2026-11-18T08:00:00.000+00:00", "Leases", "leases", 2)


def execute(store: EvaluationStore, *statements: str, **values: Any) -> None:
    """As somebody does who has access to the database, and does not care about foreign keys."""
    with store._database.writing() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        else:
            connection.exec_driver_sql("SET session_replication_role = replica")
        for statement in statements:
            connection.execute(text(statement), values)
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        else:
            connection.exec_driver_sql("SET session_replication_role = DEFAULT")


@pytest.fixture
def unguarded(url: str, clock: HeldClock, tmp_path: Path) -> Iterator[EvaluationStore]:
    """A store with a signed log, whose database does not enforce foreign keys, as SQLite's shell does not."""
    key = signing.new_key(tmp_path / "key.pem")
    with EvaluationStore.open(url, clock, read_key=lambda: key) as store:
        with store._database._engine.connect() as connection:
            if connection.dialect.name == "sqlite":
                connection.connection.cursor().execute("PRAGMA foreign_keys = OFF")
        yield store


def altered(findings: list[VerificationFinding]) -> str:
    return " ".join(finding.message for finding in findings if finding.standing is VerificationState.ALTERED)


def new_value(column: "Column[Any]", value: Any) -> Any:
    if isinstance(column.type, Boolean):
        return not value
    if isinstance(column.type, Integer):
        return (value or 0) + 70
    if isinstance(column.type, Float):
        return (value or 0) + 0.25
    return f"{value or ''} "


@contextmanager
def altered_column(store: EvaluationStore, table: Table, column: str) -> Iterator[None]:
    """Alter a column of every row that has the value of the first one, and put the old value back at the end."""
    with store._database.reading() as connection:
        old = connection.execute(table.select().order_by(*table.primary_key).limit(1)).mappings().one()[column]
    new = new_value(table.c[column], old)
    update = f"UPDATE {table.name} SET {column} = :after WHERE {column}"  # noqa: S608 - names of our own tables
    execute(store, f"{update} = :before" if old is not None else f"{update} IS NULL", before=old, after=new)
    yield
    execute(store, f"{update} = :before", before=new, after=old)


def add_users(store: EvaluationStore) -> None:
    """Two users whose columns were changed in every way that there is."""
    users = store.accounts.users
    users.add("Ada Brown", Role.READER, "a hash")
    users.set_role("Ada Brown", Role.ADMIN)
    users.set_password("Ada Brown", "another hash")
    users.set_disabled("Ada Brown", disabled=True)
    users.set_disabled("Ada Brown", disabled=False)
    users.link("Ada Brown", OidcIdentity("https://login.example", "ada"))
    users.add("Bob", Role.REVIEWER, None, OidcIdentity("https://login.example", "bob"))
    users.unlink("Bob")


def test_every_altered_column_is_found(unguarded: EvaluationStore) -> None:
    finish_evaluation(unguarded, group="id-0000", document_identity=DocumentIdentity("Lease"))
    unguarded.set_baseline("id-0001")
    unguarded.reviews.add("id-0001", override())
    unguarded.batches.create(BATCH)
    unguarded.saved_playbooks.save(a_playbook(), saved_by="Dana", note="First.", based_on=None)
    shared = unguarded.share_links.create("id-0001", note="For counsel.")
    unguarded.share_links.open(shared.token)
    unguarded.share_links.revoke("id-0001", shared.link.id)
    add_users(unguarded)

    def signatures() -> list[VerificationFinding]:
        return chain_signatures.check(unguarded.audit_log(), unguarded.head_signatures())

    overlooked = []
    assert altered([*verify_store.verify_all(unguarded), *signatures()]) == ""
    for table, column in EVIDENCE:
        with altered_column(unguarded, TABLES[table], column):
            if altered([*verify_store.verify_all(unguarded), *signatures()]) == "":
                overlooked.append((table, column, "verify_all"))
            # A saved version of a playbook is about no evaluation: each has its own copy of the document. Nor is a user.
            of_no_evaluation = (("byop_evaluations", "id"), ("byop_votes", "evaluation_id"))
            if (
                table not in ("byop_playbook_versions", "byop_batches", "byop_users")
                and (table, column) not in of_no_evaluation
            ):
                one = verify_store.verify_one(unguarded, "id-0001", unguarded.audit_log())
                if altered([*one, *signatures()]) == "":
                    overlooked.append((table, column, "verify_one"))
    assert overlooked == []
    # Every old value was put back, so each finding was about its own column.
    assert altered([*verify_store.verify_all(unguarded), *signatures()]) == ""


@pytest.mark.parametrize("end", ["running", "interrupt", "cancel", "fail", "resume"])
def test_every_altered_column_of_an_evaluation_without_report_is_found(unguarded: EvaluationStore, end: str) -> None:
    begin_evaluation(unguarded)
    unguarded.save_votes("id-0001", [a_vote()])
    if end == "fail":
        unguarded.fail("id-0001", ErrorDetail("x", "It failed."))
    elif end != "running":
        (unguarded.cancel if end == "cancel" else unguarded.interrupt)("id-0001")
    if end == "resume":
        unguarded.resume("id-0001")
    overlooked = []
    for table, column in EVIDENCE:
        if table == "byop_evaluations" and column != "id":
            assert altered(verify_store.verify_all(unguarded)) == ""
            with altered_column(unguarded, TABLES[table], column):
                if altered(verify_store.verify_all(unguarded)) == "":
                    overlooked.append(column)
    assert overlooked == []


def test_only_columns_that_coordinate_processes_let_people_in_or_find_texts_are_no_evidence() -> None:
    assert {table: set(columns) for table, columns in NOT_EVIDENCE.items()} == {
        "byop_evaluations": {
            *("owner", "touched_at", "lease_until", "began_at"),
            *("turn", "client", "requirement", "client_token"),
        },
        "byop_users": {"password_hash"},
        "byop_oidc_logins": {"key", "expires_at", "nonce", "code_verifier", "redirect_url", "return_to"},
        "byop_user_sessions": {"id_hash", "name_key", "created_at", "expires_at"},
        "byop_login_attempts": {"key", "attempts", "blocked_until"},
        "byop_share_links": {"last_opened_at"},
        "byop_indexed_texts": {"number", "evaluation_id", "complete"},
        "byop_text_words": {"id", "word"},
        "byop_texts_to_index": {"evaluation_id"},
        "byop_word_occurrences": {"word_id", "text_number"},
    }


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM byop_baselines",
        "DELETE FROM byop_documents",
        "INSERT INTO byop_documents VALUES ('id-0003', 'Another')",
        "INSERT INTO byop_baselines SELECT 'id-0002', playbook_hash, subject, saved_at FROM byop_baselines",
        "INSERT INTO byop_baselines SELECT 'nowhere', playbook_hash, subject, saved_at FROM byop_baselines",
        "DELETE FROM byop_votes WHERE sequence = 3 AND evaluation_id = 'id-0001'",
        "DELETE FROM byop_votes WHERE evaluation_id = 'id-0003'",
        "DELETE FROM byop_playbooks",
        "INSERT INTO byop_playbooks SELECT 'sha256:0', id, version, document FROM byop_playbooks",
        "DELETE FROM byop_playbook_versions",
        """INSERT INTO byop_playbook_versions SELECT playbook_id, 2, version, logic_hash, saved_at, saved_by,
        withdrawn_at, note, document FROM byop_playbook_versions""",
        "DELETE FROM byop_batches",
        "INSERT INTO byop_batches SELECT 'another', created_at, title, subject, planned, unread FROM byop_batches",
        "DELETE FROM byop_share_links",
        """INSERT INTO byop_share_links SELECT 'forged', 'id-0002', 'another', created_at, created_by, authenticated,
        expires_at, revoked_at, revoked_by, first_opened_at, last_opened_at, note FROM byop_share_links""",
        """INSERT INTO byop_share_links SELECT 'forged', 'nowhere', 'another', created_at, created_by, authenticated,
        expires_at, revoked_at, revoked_by, first_opened_at, last_opened_at, note FROM byop_share_links""",
        "DELETE FROM byop_users WHERE name = 'Bob'",
        """INSERT INTO byop_users SELECT 'mallory', 'Mallory', 'admin', disabled, created_at, password_set_at,
        password_hash, NULL, NULL FROM byop_users WHERE name = 'Bob'""",
        "UPDATE byop_users SET disabled = (1 = 1) WHERE name = 'Bob'",
        "DELETE FROM byop_evaluations WHERE id = 'id-0002'",
        "DELETE FROM byop_evaluations WHERE id = 'id-0003'",
    ],
)
def test_inserted_and_deleted_rows_are_found(unguarded: EvaluationStore, statement: str) -> None:
    finish_evaluation(unguarded, document_identity=DocumentIdentity("Lease"))
    finish_evaluation(unguarded, "id-0002")
    begin_evaluation(unguarded, "id-0003")
    unguarded.save_votes("id-0003", [a_vote()])
    unguarded.interrupt("id-0003")
    unguarded.set_baseline("id-0001")
    unguarded.saved_playbooks.save(a_playbook(), saved_by="Dana", based_on=None)
    unguarded.batches.create(BATCH)
    unguarded.share_links.create("id-0001")
    add_users(unguarded)
    assert altered(verify_store.verify_all(unguarded)) == ""
    execute(unguarded, statement)
    assert altered(verify_store.verify_all(unguarded)) != ""


def test_files_of_a_batch_that_could_not_be_read_are_logged_and_a_deleted_batch_leaves_no_name(
    store: EvaluationStore,
) -> None:
    store.batches.create(BATCH)
    store.batches.add_unread(BATCH.id, UnreadDocument("lease of Ann.pdf", "It is encrypted."))
    assert altered(verify_store.verify_all(store)) == ""
    execute(store, "UPDATE byop_batches SET unread = '[]'")
    assert "byop_batches.unread does not match" in altered(verify_store.verify_all(store))
    store.batches.delete(BATCH.id)
    assert altered(verify_store.verify_all(store)) == ""
    log = " ".join(entry.text for entry in store.audit_log())
    assert "Ann" not in log
    assert "Leases" not in log


def test_a_batch_of_an_earlier_version_cannot_be_verified(store: EvaluationStore) -> None:
    execute(store, "INSERT INTO byop_batches VALUES ('old', '2026-01-01T00:00:00.000+00:00', 'Old', 'old', 0, '[]')")
    [finding] = [item for item in verify_store.verify_all(store) if "batches of documents" in item.message]
    assert finding.standing is VerificationState.UNKNOWN


def test_a_late_vote_is_logged_and_its_alteration_found(store: EvaluationStore) -> None:
    begin_evaluation(store)
    store.cancel("id-0001")
    store.save_votes("id-0001", [a_vote()])
    assert altered(verify_store.verify_all(store)) == ""
    execute(store, "UPDATE byop_votes SET sequence = 5")
    assert "byop_votes.sequence of run 1" in altered(verify_store.verify_all(store))


def test_deleted_evaluations_are_told_from_erased_ones(store: EvaluationStore) -> None:
    for name in ("id-0001", "id-0002", "id-0003"):
        finish_evaluation(store, name)
    store.delete("id-0001", by="Dana Example")
    execute(
        store,
        "DELETE FROM byop_votes WHERE evaluation_id = 'id-0002'",
        "DELETE FROM byop_evaluations WHERE id = 'id-0002'",
    )
    findings = verify_store.verify_all(store)
    assert altered(findings) == "The evaluation id-0002 was removed, but the audit log records no deletion."
    assert "The evaluation id-0001 was erased on 2026-11-15T12:00:00.000+00:00 by Dana Example" in " ".join(
        finding.message for finding in findings
    )
    assert store.audit_log("id-0001")[-1].content["system_user"]


def as_an_earlier_version_wrote_it(store: EvaluationStore) -> None:
    """Rebuild the log without what earlier versions did not write."""
    previous, sequence = "sha256:" + "0" * 64, 0
    log = store.audit_log()
    execute(store, "DELETE FROM byop_audit")
    for entry in log:
        content = {
            name: value for name, value in entry.content.items() if name not in ("columns", "playbook", "entry_format")
        }
        if content["action"] == "created":
            continue
        for run in content.get("raw_runs", ()):
            run.pop("sequence")
        sequence += 1
        written = json.dumps({**content, "sequence": sequence, "previous_hash": previous}, sort_keys=True)
        previous = sha256(written.encode())
        execute(
            store,
            "INSERT INTO byop_audit (sequence, hash, evaluation_id, entry) VALUES (:sequence, :hash, :name, :entry)",
            sequence=sequence,
            hash=previous,
            name=entry.report_id,
            entry=written,
        )


def test_what_an_earlier_version_did_not_log_is_named(store: EvaluationStore) -> None:
    finish_evaluation(store)
    store.set_baseline("id-0001")
    begin_evaluation(store, "id-0002")
    as_an_earlier_version_wrote_it(store)
    findings = verify_store.verify_one(store, "id-0001", store.audit_log())
    assert altered(findings) == ""
    [rows] = [finding.message for finding in findings if finding.part == "rows"]
    assert rows == (
        "These columns cannot be verified, because the audit log does not have them (an earlier version of Salvo wrote "
        "it, or the evaluation is running): byop_evaluations.group_id, byop_evaluations.created_at, "
        "byop_evaluations.request, byop_playbooks.document (only its two dates; the rest is covered by its hash), "
        "byop_votes.sequence. The other columns are what it says."
    )
    for column in ("subject", "evaluator", "mode", "runs", "state", "finished_at", "stored_in_full", "outcomes"):
        with altered_column(store, TABLES["byop_evaluations"], column):
            assert altered(verify_store.verify_one(store, "id-0001", store.audit_log())) != ""
    unfinished = " ".join(part.message for part in verify_store.verify_one(store, "id-0002", store.audit_log()))
    assert "Nothing of the evaluation can be verified" in unfinished


def test_an_evaluation_that_was_inserted_is_found(store: EvaluationStore) -> None:
    begin_evaluation(store)
    names = ", ".join(column.name for column in TABLES["byop_evaluations"].c if column.name != "id")
    execute(store, f"INSERT INTO byop_evaluations (id, {names}) SELECT 'id-0009', {names} FROM byop_evaluations")  # noqa: S608 - as above
    assert "was inserted" in altered(verify_store.verify_all(store))
