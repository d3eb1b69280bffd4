"""Evidence in a file is given by heading, paragraph and page, wherever a report is read."""

import pytest

from tests.support.byop_project import ByopProject
from tests.support.documents import structured_word_file
from tests.support.web import CARELESS

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


@pytest.mark.parametrize(
    "name, heading, place",
    [
        ("memo.md", "2 Liability", "Section 2 Liability, paragraph 2, line 9"),
        ("memo.txt", "", "paragraph 5, line 9"),
    ],
)
def test_evidence_in_a_text_file_has_its_paragraph_and_in_markdown_its_heading(
    project: ByopProject, name: str, heading: str, place: str
) -> None:
    text = "# 1 Scope\r\n\r\nAll of it.\r\n\r\n## 2 Liability\n\nLimited.\n\n"
    project.write(name, f"{text}{CARELESS}\n")
    outputs = ("report.html", "report.md", "report.xml")
    report = project.evaluate(name, *RULES, *(option for output in outputs for option in ("-o", output)))
    locations = [quote["location"] for check in report["check_results"] for quote in check["evidence_citations"]]
    assert {location["position"]["heading"] for location in locations} == {heading}
    for output in outputs:
        assert place in (project.folder / output).read_text()
    assert place in project.byop("run", name, *RULES).output


def test_a_title_that_is_the_only_heading_is_not_named(project: ByopProject) -> None:
    project.write("memo.md", f"# A memo\n\nFirst.\n\n{CARELESS}\n")
    report = project.evaluate("memo.md", *RULES)
    positions = [
        quote["location"]["position"] for check in report["check_results"] for quote in check["evidence_citations"]
    ]
    assert {(position["heading"], position["paragraph"]) for position in positions} == {("", 2)}
