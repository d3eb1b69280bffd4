"""A project for the tests that evaluate, and a store for the tests of the other commands."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from salvo.cli.byop import byop
from salvo.playbooks.audit.integrity import with_hash
from salvo.playbooks.enums import RUN_VARIANCE, Mode, Result
from salvo.playbooks.report.report import Report
from salvo.playbooks.store.store import EvaluationStore
from tests.support.byop_project import ByopProject
from tests.support.clock import HeldClock
from tests.support.playbooks import a_report, a_vote, some_votes
from tests.support.stored_evaluations import NAMES, Byop, begin_evaluation, finish_evaluation


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_database: Path) -> ByopProject:
    shutil.copy(empty_database, tmp_path / "byop_runs.db")
    return ByopProject(tmp_path, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Byop:
    return lambda *arguments, **more: CliRunner().invoke(byop, arguments, catch_exceptions=False, **more)


@pytest.fixture
def store(folder: Path) -> Iterator[EvaluationStore]:
    with EvaluationStore.open(f"sqlite:///{folder / 'byop_runs.db'}", HeldClock()) as opened:
        yield opened


@pytest.fixture
def three(store: EvaluationStore) -> EvaluationStore:
    """A finished evaluation, an interrupted one, and a screening of which only hashes are stored."""
    finish_evaluation(store, NAMES[0], subject="DPA \x1b[31mreview")
    begin_evaluation(store, NAMES[1], evaluator="rules")
    store.save_votes(NAMES[1], [a_vote()])
    store.interrupt(NAMES[1])
    finish_evaluation(
        store,
        NAMES[2],
        mode=Mode.SCREENING,
        runs=1,
        in_full=False,
        votes=some_votes(1),
        report=_screening(NAMES[2]),
    )
    return store


def _screening(name: str) -> Report:
    report = a_report(report_id=name, execution_mode=Mode.SCREENING, runs=1, consistency=None)
    checks = tuple(
        replace(check, result=Result.INDETERMINATE, per_check_confidence=0.0)
        if check.check_id == RUN_VARIANCE
        else replace(check, per_check_consistency=None)
        for check in report.check_results
    )
    return with_hash(replace(report, check_results=checks))
