"""A text that seems to hold a credential gets a warning before it is evaluated; the report has none of it."""

from tests.support.byop_project import TEXT, ByopProject

KEY = "ghp_0123456789abcdefABCDEF"


def test_run_warns_of_a_credential_in_a_text_without_showing_it(project: ByopProject) -> None:
    (project.folder / "output.md").write_text(TEXT)
    (project.folder / "source.md").write_text(f"\n\nThird line.\nThe token is {KEY}.\n")
    ran = project.byop("run", "output.md", "--source", "source.md", "--evaluator", "rules", "--json")
    expected = "Warning: The source document may contain a GitHub token at line 4, column 14. Texts are not redacted"
    assert expected in ran.stderr
    assert KEY not in ran.output
    assert "may contain" not in ran.stdout


def test_run_says_nothing_about_a_text_without_one(project: ByopProject) -> None:
    (project.folder / "output.md").write_text(TEXT)
    assert "Warning" not in project.byop("run", "output.md", "--evaluator", "rules").stderr
