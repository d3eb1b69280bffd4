"""`byop run` reads Word and PDF files as the page does, and says what it assumed and left out."""

import hashlib
import html
import json

import pytest

from tests.support.byop_project import ASSUMED, CERTAIN, TEXT, UNCHECKED, ByopProject
from tests.support.documents import pdf, word_file

RULES = ("--evaluator", "rules")


def test_word_and_pdf_files_are_read_and_recorded_with_the_hash_of_the_file(project: ByopProject) -> None:
    word, printed = word_file(*TEXT.split("\n")), pdf(ASSUMED, CERTAIN, UNCHECKED)
    project.write("memo.docx", word)
    project.write("memo.pdf", printed)
    report = project.evaluate("memo.docx", *RULES, "--source", "memo.pdf")
    quotes = [citation["span"] for check in report["check_results"] for citation in check["evidence_citations"]]
    assert CERTAIN in quotes
    assert report["integrity"]["raw_inputs"] == {
        "ai_output": _sha256(word),
        "source_document": _sha256(printed),
    }
    # The same text, typed, has the same fingerprint and another hash.
    typed = project.evaluate(
        *RULES, "--source", str(project.write("source.txt", f"{ASSUMED}\n\n{CERTAIN}\n\n{UNCHECKED}"))
    )
    assert typed["integrity"]["inputs_fingerprint"] == report["integrity"]["inputs_fingerprint"]
    assert typed["integrity"]["raw_inputs"] != report["integrity"]["raw_inputs"]
    # It is also read where no name says what it is.
    result = project.byop("run", "-", *RULES, "--json", stdin=word)
    assert result.exit_code in (0, 1), result.output


def test_running_lines_of_a_pdf_are_left_out_with_a_notice(project: ByopProject) -> None:
    sentences = (ASSUMED, CERTAIN, UNCHECKED)
    project.write("memo.pdf", pdf(*(f"ACME Ltd\n{text}\n{page}" for page, text in enumerate(sentences, start=1))))
    shown = project.byop("run", "memo.pdf", *RULES, "-o", "report.html")
    assert (
        "Notice: Lines repeated at the top or bottom of the pages of memo.pdf are not part of the text: "
        in shown.stderr
    )
    assert "“ACME Ltd”, on 3 pages" in shown.stderr
    assert "Page numbers of memo.pdf are not part of the text: “1” and so on, on 3 pages." in shown.stderr
    frozen_text = (project.folder / "report.html").read_text(encoding="utf-8").partition("The frozen text")[2]
    assert "Clause 7 is fully" in frozen_text
    assert "ACME Ltd" not in frozen_text


def test_what_was_assumed_and_left_out_is_in_every_form_of_the_report(project: ByopProject) -> None:
    """And without the folder of the file, because reports are passed on."""
    pages = [f"ACME Ltd\n{text}\n{page}" for page, text in enumerate((ASSUMED, CERTAIN, UNCHECKED), start=1)]
    memo = project.write("memo.pdf", pdf(*pages))
    prompt = project.write("prompt.txt", "The fee is 5 €.".encode("cp1252"))
    files = ("--prompt", str(prompt), "--encoding", "windows-1252", "-o", "r.md", "-o", "r.html")
    shown = project.byop("run", str(memo), *RULES, *files)
    assert shown.exit_code in (0, 1), shown.output
    report = json.loads(project.byop("show", "latest", "--json").stdout)["byop_report"]
    notices = report["input_notices"]
    assert [notice.partition(" of ")[0].partition(" is not")[0] for notice in notices] == [
        "Lines repeated at the top or bottom",
        "Page numbers",
        "prompt.txt",
    ]
    assert str(project.folder) not in "".join(notices)
    written = [(project.folder / name).read_text(encoding="utf-8") for name in ("r.md", "r.html")]
    for text in (shown.stdout, project.byop("show", "latest").stdout, *written):
        assert "How the files were read" in text
        for part in ("“ACME Ltd”, on 3 pages", "so it was read as Windows-1252"):
            assert part in " ".join(html.unescape(text).replace("\\", "").split())
    assert project.byop("verify", "latest").exit_code == 0
    assert project.byop("replay", "latest").exit_code == 0


def test_the_head_of_every_form_of_the_report_says_which_document_it_is_about(project: ByopProject) -> None:
    content = pdf(ASSUMED, CERTAIN)
    memo = project.write("Lease memo.pdf", content)
    named = ("--reviewer", "Dana Example", "--producer", "openai/gpt-5.5")
    shown = project.byop("run", str(memo), *RULES, *named, "-o", "r.md", "-o", "r.html", "-o", "r.xml")
    assert shown.exit_code in (0, 1), shown.output
    report = json.loads(project.byop("show", "latest", "--json").stdout)["byop_report"]
    assert report["document_identity"] == {
        "title": "Lease memo",
        "file_name": "Lease memo.pdf",
        "file_sha256": _sha256(content),
        "pages": 2,
        "reviewer": "Dana Example",
    }
    exports = [(project.folder / name).read_text() for name in ("r.md", "r.html", "r.xml")]
    for text in (shown.stdout, *exports):
        plain = html.unescape(text).replace("\\", "")
        for part in ("Lease memo.pdf", _sha256(content), "Dana Example", "openai/gpt-5.5", "UTC"):
            assert part in plain
    assert project.byop("verify", "latest").exit_code == 0
    assert "Lease memo" in project.byop("history", "--search", "lease", "--json").stdout


def test_what_is_not_known_of_a_document_is_not_recorded(project: ByopProject) -> None:
    shown = project.byop("run", "-", *RULES, stdin=TEXT)
    assert shown.exit_code in (0, 1)
    assert "document_identity" not in json.loads(project.byop("show", "latest", "--json").stdout)["byop_report"]
    assert "not recorded" in shown.stdout


def test_with_hashes_only_what_was_left_out_is_hashed_too(project: ByopProject) -> None:
    project.write("memo.pdf", pdf(*(f"ACME Ltd\n{text}" for text in (ASSUMED, CERTAIN, UNCHECKED))))
    assert project.byop("run", "memo.pdf", *RULES, "--hashes-only").exit_code in (0, 1)
    assert b"ACME" not in project.everything_stored()


def test_a_text_file_without_assumptions_has_no_notices(project: ByopProject) -> None:
    assert "input_notices" not in project.evaluate(*RULES)


def test_windows_1252_is_offered_and_never_assumed_silently(project: ByopProject) -> None:
    text = f"{TEXT}\nThe fee is 5 €."
    project.write("memo.txt", text.encode("cp1252"))
    refused = project.byop("run", "memo.txt", *RULES)
    assert refused.exit_code == 2
    assert "memo.txt is not UTF-8: byte " in refused.stderr
    assert "It could be Windows-1252, which would be “The fee is 5 €.” there." in refused.stderr
    assert "If that is right, add --encoding windows-1252." in refused.stderr
    read = project.byop("run", "memo.txt", *RULES, "--encoding", "windows-1252", "-o", "report.html")
    assert read.exit_code in (0, 1), read.output
    assert "Notice: memo.txt is not UTF-8, so it was read as Windows-1252. This is an assumption" in read.stderr
    assert "The fee is 5 €." in (project.folder / "report.html").read_text(encoding="utf-8")
    # A file that is UTF-8 needs no assumption.
    utf_8 = project.byop("run", "output.md", *RULES, "--encoding", "windows-1252")
    assert "Notice" not in utf_8.stderr


@pytest.mark.parametrize("name, content", [("scan.pdf", pdf("", "")), ("not.docx", b"hello"), ("PK", b"PK\x03\x04")])
def test_a_document_that_cannot_be_read_is_named(project: ByopProject, name: str, content: bytes) -> None:
    project.write(name, content)
    for command in (("run", name), ("run", "output.md", "--source", name)):
        refused = project.byop(*command)
        assert (refused.exit_code, f"{name} was not read. The file " in refused.stderr) == (2, True)


def _sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
