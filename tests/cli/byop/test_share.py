"""`byop share`, on a real database."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from salvo.engine.runtime.clock import SystemClock
from salvo.errors import UnknownIdError
from salvo.playbooks.store.store import EvaluationStore
from tests.support.stored_evaluations import NAMES, Byop, begin_evaluation, finish_evaluation

REPORT = NAMES[0]


@pytest.fixture
def store(folder: Path) -> Iterator[EvaluationStore]:
    with EvaluationStore.open(f"sqlite:///{folder / 'byop_runs.db'}", SystemClock()) as store:
        finish_evaluation(store, REPORT)
        yield store


def test_a_link_is_printed_once_listed_and_revoked(run: Byop, store: EvaluationStore) -> None:
    made = run("share", REPORT, "--days", "3", "--note", "For counsel.", "--server", "https://review.example.org/")
    assert made.exit_code == 0, made.stderr
    address, _, token = made.stdout.strip().partition("#")
    assert address == "https://review.example.org/shared"
    assert store.share_links.open(token).evaluation_id == REPORT
    listed = run("share", REPORT, "--list")
    [link] = json.loads(run("share", REPORT, "--list", "--json").stdout)
    assert all(text in listed.stdout for text in (link["id"], "open", "For counsel."))
    assert token not in listed.stdout
    assert run("share", REPORT, "--revoke", link["id"]).stdout == f"The link {link['id']} no longer works.\n"
    with pytest.raises(UnknownIdError):
        store.share_links.open(token)
    assert "revoked" in run("share", REPORT, "--list").stdout
    assert run("verify", "--all").exit_code == 0
    log = run("audit").stdout
    assert "share_link_created" in log or "Share link created" in log


def test_the_default_address_is_said_to_work_on_this_machine_only(run: Byop, store: EvaluationStore) -> None:
    made = run("share", REPORT)
    assert made.stdout.startswith("http://127.0.0.1:8642/shared#")
    assert "Others cannot reach this address" in made.stderr


@pytest.mark.parametrize("options", [("--days", "91"), ("--days", "0"), ("--list", "--revoke", "x"), ("--revoke", "x")])
def test_what_cannot_be_done_is_refused_and_nothing_is_shared(
    run: Byop, store: EvaluationStore, options: tuple[str, ...]
) -> None:
    assert run("share", REPORT, *options).exit_code == 2
    assert store.share_links.of_report(REPORT) == []


def test_an_evaluation_without_report_cannot_be_shared(run: Byop, store: EvaluationStore) -> None:
    begin_evaluation(store, NAMES[1])
    assert "has no report" in run("share", NAMES[1]).stderr
