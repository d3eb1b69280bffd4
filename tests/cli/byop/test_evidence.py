"""Evidence: what counts as a quote, where it is, and that nothing hides it."""
# ruff: noqa: RUF001 - look-alike letters are a part of the subject

from typing import Any

from tests.support.byop_project import CERTAIN, TEXT, ByopProject, ScriptedJudge, check, results, verdict
from tests.support.playbook import document
from tests.support.provider import LoopbackProvider, Say


def pattern_playbook(pattern: str) -> dict[str, Any]:
    method = {"type": "pattern", "patterns": [pattern]}
    checks = [{"id": "absolutes", "severity": "high", "question": "Any?", "detection_method": method}]
    return {**document(), "checks": checks}


def test_zero_width_and_look_alike_letters_do_not_hide_a_word_from_a_pattern_check(project: ByopProject) -> None:
    text = "The fee is al\u200bways due.\nThe notice is аlwауs late.\nОн всегда прав: this is always quoted."
    project.write("output.md", text)
    report = project.evaluate(
        "--no-store", "--playbook", project.write_playbook(pattern_playbook("always")), exit_code=1
    )
    absolutes = check(report, "absolutes")
    assert absolutes["result"] == "fail"
    located = [(quote["location"]["line"], quote["span"]) for quote in absolutes["evidence_citations"]]
    assert located == [(1, "al\u200bways"), (2, "аlwауs"), (3, "always")]
    assert all(
        text[quote["location"]["start"] : quote["location"]["end"]] == quote["span"]
        for quote in absolutes["evidence_citations"]
    )
    found = {finding["kind"]: finding for finding in report["artifact_findings"]}
    assert found.keys() == {"zero_width", "look_alike_letters"}
    assert found["look_alike_letters"]["span"] == "аlwауs"
    assert "“аlwауs” (line 2: U+0430, U+0443)" in found["look_alike_letters"]["message"]


def test_a_pattern_in_another_script_still_matches_the_text_itself(project: ByopProject) -> None:
    project.write("output.md", "Сор всегда вывозит подрядчик, аnd the fee is due.")
    report = project.evaluate("--no-store", "--playbook", project.write_playbook(pattern_playbook("сор")), exit_code=1)
    assert [quote["span"] for quote in check(report, "absolutes")["evidence_citations"]] == ["Сор"]


def test_a_quote_is_located_where_the_text_has_look_alike_letters(project: ByopProject) -> None:
    disguised = CERTAIN.replace("a", "а").replace("Clause", "Cla\u200buse")
    project.write("output.md", TEXT.replace(CERTAIN, disguised))
    with LoopbackProvider(ScriptedJudge(certainty_language=Say(verdict("fail", CERTAIN)))) as provider:
        project.reach(provider)
        report = project.evaluate("--no-store", exit_code=1)
    assert results(report)["certainty_language"] == "fail"
    [quote] = check(report, "certainty_language")["evidence_citations"]
    assert quote["span"] == disguised
