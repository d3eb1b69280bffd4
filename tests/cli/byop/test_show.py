"""`byop show`, on a real database."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from salvo.cli.byop import byop
from salvo.cli.exit_codes import ExitCode
from salvo.playbooks.audit import signatures, signing
from salvo.playbooks.audit.report_file import parse_json
from salvo.playbooks.report import terminal
from salvo.playbooks.report.export import html
from salvo.playbooks.report.report_document import ReportFile, read_report
from salvo.playbooks.store.store import EvaluationStore
from tests.support.clock import HeldClock
from tests.support.stored_evaluations import begin_evaluation, finish_evaluation


def show(*arguments: str) -> Result:
    return CliRunner().invoke(byop, ["show", *arguments])


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EvaluationStore]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    with EvaluationStore.open(f"sqlite:///{tmp_path / 'byop_runs.db'}", HeldClock()) as opened:
        yield opened


def test_it_prints_the_report_and_the_beginning_of_its_id_is_enough(store: EvaluationStore) -> None:
    report = finish_evaluation(store, "id-0001")
    shown = show("id-0")
    assert shown.exit_code == ExitCode.OK
    assert shown.stdout.splitlines() == terminal.lines(report, width=80)
    assert show("latest").stdout == shown.stdout


def test_json_is_the_report_alone_on_stdout(store: EvaluationStore) -> None:
    report = finish_evaluation(store, "id-0001")
    assert read_report(show("id-0001", "--json").stdout.encode()) == ReportFile(report)


def test_each_file_is_written_and_noted_in_the_audit_log(store: EvaluationStore, tmp_path: Path) -> None:
    report = finish_evaluation(store, "id-0001")
    before = len(store.audit_log("id-0001"))
    shown = show("id-0001", "-o", "a.html", "-o", "a.json")
    assert shown.exit_code == ExitCode.OK
    assert (tmp_path / "a.html").read_text() == html.render(report, store.load("id-0001").inputs)
    assert "<mark" in (tmp_path / "a.html").read_text()
    assert json.loads((tmp_path / "a.json").read_text())["byop_report"]["report_id"] == "id-0001"
    assert len(store.audit_log("id-0001")) == before + 2


def test_a_stored_report_is_signed_when_it_is_written(store: EvaluationStore, tmp_path: Path) -> None:
    report = finish_evaluation(store, "id-0001")
    signing.new_key(tmp_path / "mine.key")
    assert show("id-0001", "--sign", "mine.key", "-o", "a.json").exit_code == ExitCode.OK
    signed = parse_json((tmp_path / "a.json").read_bytes(), "a.json")
    assert signed.report == report
    assert signed.signature is not None
    assert signatures.signs_bytes(signed.payload, signed.signature)
    refused = show("id-0001", "--sign", "nowhere.key", "-o", "b.json")
    assert (refused.exit_code, (tmp_path / "b.json").exists()) == (ExitCode.USAGE, False)


def test_an_unknown_suffix_is_said_before_anything_is_written(store: EvaluationStore, tmp_path: Path) -> None:
    finish_evaluation(store, "id-0001")
    shown = show("id-0001", "-o", "a.json", "-o", "a.pdf")
    assert shown.exit_code == ExitCode.USAGE
    assert "Use one of .json, .html, .md, .xml (JUnit)." in shown.stderr
    assert not (tmp_path / "a.json").exists()


def test_an_evaluation_without_a_report_says_so(store: EvaluationStore) -> None:
    begin_evaluation(store, "id-0001")
    shown = show("id-0001")
    assert shown.exit_code == ExitCode.USAGE
    assert "id-0001 has no report: it is " in shown.stderr


def test_an_unknown_id_is_a_sentence(store: EvaluationStore) -> None:
    finish_evaluation(store, "id-0001")
    shown = show("nobody")
    assert shown.exit_code == ExitCode.USAGE
    assert "nobody" in shown.stderr
