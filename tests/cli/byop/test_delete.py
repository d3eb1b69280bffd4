"""`byop delete`, on a real database."""

import click
import pytest
from inline_snapshot import snapshot

from salvo.playbooks.store.store import EvaluationStore
from tests.support.stored_evaluations import NAMES, Byop


def test_a_deletion_must_be_confirmed(run: Byop, three: EvaluationStore, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = run("delete", "01k9a")
    assert (refused.exit_code, refused.stderr) == (
        2,
        snapshot("""\
Error: Deleting 01k9aaaaaaaaaaaa (DPA \\x1b[31mreview, 2026-11-15T12:00:00Z, ALERT) needs a confirmation, and there is no terminal.
Pass --yes.
"""),
    )
    with monkeypatch.context() as terminal:
        terminal.setattr(click.testing._NamedTextIOWrapper, "isatty", lambda _: True, raising=False)
        kept = run("delete", "01k9a", input="n\n")
        assert kept.exit_code == 1
        assert "This cannot be undone" in kept.stdout
        assert len(three.history().rows) == 3
        assert run("delete", "01k9a", input="y\n").exit_code == 0
    assert run("delete", "latest", "--yes").stdout == snapshot(
        "01k9cccccccccccc was deleted. The audit log records it.\n"
    )
    assert [row.id for row in three.history().rows] == [NAMES[1]]
    assert run("verify", NAMES[0]).stdout.startswith("unknown")


def test_a_damaged_evaluation_can_be_deleted(run: Byop, three: EvaluationStore) -> None:
    with three._database.writing() as connection:
        connection.exec_driver_sql("UPDATE byop_evaluations SET report = '{'")
    assert run("delete", NAMES[0], "--yes").exit_code == 0
