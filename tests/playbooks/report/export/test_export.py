"""Reports as files: by their suffix, whole or not at all."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given

from salvo.errors import StoreError, UsageError
from salvo.playbooks.report import export
from salvo.playbooks.report.export import json as as_json
from salvo.playbooks.report.report_document import ReportFile, read_report
from tests.playbooks.report.export.examples import INPUTS, everything
from tests.support.attacks import attack_texts, with_text_everywhere


def test_the_suffix_says_what_is_written(tmp_path: Path) -> None:
    begins = {
        "a.json": b'{\n  "byop_report"',
        "a.html": b"<!DOCTYPE html>",
        "a.MD": b"> **This is",
        "a.xml": b"<testsuites",
    }
    for name, beginning in begins.items():
        path = tmp_path / "new" / name
        export.check(path)
        written = export.write(path, everything(), INPUTS)
        assert path.read_bytes() == written
        assert written.startswith(beginning)
        assert written.endswith(b"\n")


def test_the_text_is_in_the_html_alone(tmp_path: Path) -> None:
    assert b"<mark" in export.write(tmp_path / "a.html", everything(), INPUTS)
    assert b"<mark" not in export.write(tmp_path / "b.html", everything())


@given(text=attack_texts)
def test_json_is_the_report_and_can_be_read_again(text: str) -> None:
    report = with_text_everywhere(everything(), text)
    rendered = as_json.render(report)
    assert rendered == as_json.render(report)
    assert json.loads(rendered).keys() == {"byop_report", "signature"}
    assert read_report(rendered.encode()) == ReportFile(report)


def test_another_suffix_names_those_that_are_known(tmp_path: Path) -> None:
    for name in ("a.pdf", "a"):
        with pytest.raises(UsageError, match=r"Use one of \.json, \.html, \.md, \.xml \(JUnit\)\."):
            export.check(tmp_path / name)
        with pytest.raises(UsageError):
            export.write(tmp_path / name, everything())
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_said_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(UsageError, match=r"folder\.html cannot be written: it is a folder"):
        export.check(tmp_path / "folder.html")
    with pytest.raises(UsageError, match=r"a\.html cannot be written: .*file is not a writable folder"):
        export.check(tmp_path / "file" / "a.html")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UsageError, match="nothing was spent"):
        export.check(tmp_path / "a.html")


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, link = tmp_path / "real.md", tmp_path / "link.md"
    real.write_text("before")
    link.symlink_to(real)
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(StoreError, match=r"real\.md cannot be written"):
            export.write(link, everything())
    assert real.read_text() == "before"
    export.write(link, everything())
    assert link.is_symlink()
    assert real.read_text().startswith("> **This is")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        export.write(tmp_path / "file" / "a.md", everything())
