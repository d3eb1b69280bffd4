"""Evidence in a Word or PDF file is given by heading, paragraph and page, wherever a report is read."""

from tests.support.byop_project import ByopProject
from tests.support.documents import structured_word_file

PLACE = "Section 2 Liability, paragraph 2, page 2, line "
RULES = ("--evaluator", "rules")


def test_evidence_in_a_word_file_has_heading_paragraph_and_page(project: ByopProject) -> None:
    project.write("contract.docx", structured_word_file())
    report = project.evaluate("contract.docx", *RULES, "-o", "report.html", "-o", "report.md")
    positions = [hit["location"]["position"] for check in report["check_results"] for hit in check["pattern_hits"]]
    place = {"heading": "2 Liability", "paragraph": 2, "page": 2, "table": None, "row": None, "column": None}
    assert place in positions
    for name in ("report.html", "report.md"):
        assert PLACE in (project.folder / name).read_text()


def test_a_store_of_hashes_has_no_heading(project: ByopProject) -> None:
    project.write("contract.docx", structured_word_file())
    project.byop("run", "contract.docx", *RULES, "--hashes-only")
    [(report, inputs)] = project.stored("SELECT report, inputs FROM byop_evaluations")
    assert inputs is None
    assert "2 Liability" not in report
    assert '"paragraph":2' in report.replace(" ", "")
