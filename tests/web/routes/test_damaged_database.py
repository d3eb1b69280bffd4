"""The API over a database with damaged values: it names the damaged evaluation, hides no other, and never fails."""

import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Integer

from salvo.engine.runtime.clock import SystemClock
from salvo.playbooks.accounts.users import Role
from salvo.playbooks.documents.matrix import DocumentBatch, UnreadDocument
from salvo.playbooks.report.report import DocumentIdentity
from salvo.playbooks.store.store import EvaluationStore
from salvo.playbooks.store.tables import metadata
from tests.support.accounts import add_user, user_browser
from tests.support.clock import HeldClock
from tests.support.playbooks import a_playbook
from tests.support.reviews import override
from tests.support.stored_evaluations import NAMES, begin_evaluation, finish_evaluation
from tests.support.web import Client, WebServer, client, stranger

DAMAGED, INTACT, RUNNING = NAMES
SAVED = a_playbook().id
ADA = "Ada Brown"
BINARY = b"\x00\xff"
COLUMNS = [
    (table.name, column.name)
    for table in metadata.sorted_tables
    for column in table.c
    # SQLite itself refuses anything but a number in the one column of a key that is a number.
    if list(table.primary_key) != [column] or not isinstance(column.type, Integer)
]
PATHS = (
    "/api/history",
    "/api/history?search=def",
    "/api/history?search=law&in_texts=true",
    "/api/subjects",
    "/api/timeline",
    "/api/baselines",
    "/api/playbooks",
    f"/api/reports/{DAMAGED}",
    f"/api/reports/{DAMAGED}/export?format=html",
    f"/api/reports/{DAMAGED}/verify",
    f"/api/evaluations/{DAMAGED}",
    "/api/evaluations/latest",
    f"/api/reports/{DAMAGED}/review",
    f"/api/reports/{DAMAGED}/share-links",
    "/api/review-queue",
    "/api/blind-reviews",
    "/api/document-batches",
    "/api/document-batches/batch-0001",
    "/api/document-batches/batch-0001/export?format=csv",
    "/api/saved-playbooks",
    f"/api/saved-playbooks/{SAVED}",
    f"/api/saved-playbooks/{SAVED}/versions/1",
    "/api/users",
    "/api/audit-log",
    "/api/verify",
)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("original") / "byop_runs.db"
    with EvaluationStore.open(f"sqlite:///{file}", HeldClock()) as store:
        store.batches.create(DocumentBatch("batch-0001", "2026-11-18T08:00:00.000+00:00", "Leases", "leases", 2))
        store.batches.add_unread("batch-0001", UnreadDocument("lease.pdf", "It is encrypted."))
        finish_evaluation(store, DAMAGED, group="batch-0001", document_identity=DocumentIdentity("Lease"))
        finish_evaluation(store, INTACT)
        store.set_baseline(DAMAGED)
        store.reviews.add(DAMAGED, override())
        store.saved_playbooks.save(a_playbook(), saved_by="Dana", note="First.", based_on=None)
        store.share_links.create(DAMAGED, note="For counsel.")
    add_user(f"sqlite:///{file}", ADA, Role.ADMIN)
    return file


@pytest.fixture
def damaged(database: Path, original: Path) -> Iterator[sqlite3.Connection]:
    shutil.copy(original, database)
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        yield connection


@pytest.fixture
async def api(damaged: sqlite3.Connection, serve: Callable[..., WebServer]) -> AsyncIterator[Client]:
    async with client(serve()) as ready:
        yield ready


def damage(database: sqlite3.Connection, table: str, column: str, value: Any) -> None:
    key = {"byop_evaluations": "id", "byop_votes": "evaluation_id", "byop_baselines": "evaluation_id"}.get(table)
    where = f" WHERE {key} = '{DAMAGED}'" if key else ""
    database.execute(f"UPDATE OR IGNORE {table} SET {column} = ?{where}", (value,))  # noqa: S608 - our own tables


@pytest.mark.load
@pytest.mark.parametrize("table", sorted({table for table, _ in COLUMNS}))
@pytest.mark.parametrize("value", [BINARY, "bogus", "[]", '{"check_results": 7}'])
async def test_no_damaged_value_makes_the_server_fail(
    api: Client, damaged: sqlite3.Connection, original: Path, value: Any, table: str
) -> None:
    failures = []
    for column in [column for its_table, column in COLUMNS if its_table == table]:
        with closing(sqlite3.connect(original)) as source:
            source.backup(damaged)
        damage(damaged, table, column, value)
        for path in PATHS:
            reply = await api.ask("GET", path)
            if reply.status >= 500 and reply.code != "store":
                failures.append(f"{table}.{column}: {path}: {reply.status}")
        pair = await api.ask("POST", "/api/compare", {"a": DAMAGED, "b": INTACT})
        if pair.status >= 500 and pair.code != "store":
            failures.append(f"{table}.{column}: compare: {pair.status}")
    assert not failures, "\n".join(failures)


async def test_the_history_names_a_damaged_evaluation_and_lists_the_others(
    api: Client, damaged: sqlite3.Connection
) -> None:
    damage(damaged, "byop_evaluations", "consistency", "high")
    page = (await api.ask("GET", "/api/history?limit=1")).json()
    assert ([row["id"] for row in page["rows"]], page["damaged"], page["more"]) == ([INTACT], [], True)
    page = (await api.ask("GET", "/api/history?limit=1&offset=1")).json()
    assert (page["rows"], page["more"]) == ([], False)
    [row] = page["damaged"]
    assert row["id"] == DAMAGED
    assert row["message"].startswith(f"The stored evaluation {DAMAGED} is damaged: consistency is a text.")


@pytest.mark.parametrize(
    "table, column, value, path",
    [
        ("byop_evaluations", "outcomes", "[]", "/api/timeline"),
        ("byop_evaluations", "outcomes", BINARY, "/api/timeline"),
        ("byop_evaluations", "report", "{}", f"/api/reports/{DAMAGED}"),
        ("byop_evaluations", "inputs", "[]", f"/api/reports/{DAMAGED}/export"),
        ("byop_evaluations", "status", None, "/api/baselines"),
        ("byop_votes", "vote", '{"ballot": 7}', f"/api/evaluations/{DAMAGED}"),
        ("byop_votes", "sequence", BINARY, f"/api/evaluations/{DAMAGED}"),
        ("byop_baselines", "saved_at", BINARY, f"/api/reports/{DAMAGED}"),
    ],
)
async def test_an_answer_that_needs_what_is_damaged_names_the_evaluation(
    api: Client, damaged: sqlite3.Connection, table: str, column: str, value: Any, path: str
) -> None:
    damage(damaged, table, column, value)
    reply = await api.ask("GET", path)
    assert (reply.status, reply.code) == (503, "store")
    assert f"The stored evaluation {DAMAGED} is damaged: " in reply.json()["error"]["message"]


@pytest.mark.parametrize("statement", ["DELETE FROM byop_playbooks", "UPDATE byop_playbooks SET document = '{}'"])
async def test_a_timeline_without_its_playbook_names_an_evaluation(
    api: Client, damaged: sqlite3.Connection, statement: str
) -> None:
    damaged.execute(statement)
    reply = await api.ask("GET", "/api/timeline")
    assert (reply.status, reply.code) == (503, "store")
    assert "is damaged: its playbook" in reply.json()["error"]["message"]


async def test_a_damaged_evaluation_that_was_running_does_not_keep_the_server_from_starting(
    damaged: sqlite3.Connection, database: Path, serve: Callable[..., WebServer]
) -> None:
    with EvaluationStore.open(f"sqlite:///{database}", HeldClock()) as store:
        begin_evaluation(store, RUNNING)
    damaged.execute("UPDATE byop_evaluations SET id = ?, owner = ? WHERE id = ?", (BINARY, BINARY, RUNNING))
    async with client(serve()) as api:
        page = (await api.ask("GET", "/api/history")).json()
        assert [row["id"] for row in page["damaged"]] == ["b'\\x00\\xff'"]
        assert [row["id"] for row in page["rows"]] == [INTACT, DAMAGED]
        assert (await api.ask("GET", "/api/reports/latest")).json()["report"]["report_id"] == INTACT


async def test_a_damaged_user_is_named_and_an_unusable_database_is_said_to_be_so(
    damaged: sqlite3.Connection, serve: Callable[..., WebServer]
) -> None:
    async with user_browser(serve(), ADA) as ada:
        damage(damaged, "byop_users", "role", "bogus")
        refused = await ada.ask("GET", "/api/about")
        assert (refused.status, refused.code) == (503, "store")
        assert f"The stored user {ADA} is damaged: 'bogus' is not a valid Role." in refused.body.decode()
        assert refused.headers["X-Frame-Options"] == "DENY"
        damage(damaged, "byop_users", "role", "admin")
        damaged.execute("ALTER TABLE byop_user_sessions RENAME TO elsewhere")
        assert (await ada.ask("GET", "/api/about")).code == "store"
        damaged.execute("ALTER TABLE elsewhere RENAME TO byop_user_sessions")
        assert (await ada.ask("GET", "/api/about")).status == 200


async def test_a_link_whose_maker_is_damaged_says_so(
    damaged: sqlite3.Connection, database: Path, serve: Callable[..., WebServer]
) -> None:
    with EvaluationStore.open(f"sqlite:///{database}", SystemClock()) as store:
        token = store.share_links.create(DAMAGED, user=ADA).token
    async with stranger(serve().url) as reader:
        for value in (None, "bogus"):
            damage(damaged, "byop_share_links", "last_opened_at", value)
            assert (await reader.ask("GET", "/api/shared/report", x_share_token=token)).status == 200
        damage(damaged, "byop_users", "role", "bogus")
        refused = await reader.ask("GET", "/api/shared/report", x_share_token=token)
        assert (refused.status, refused.code) == (503, "store")
