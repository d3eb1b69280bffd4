"""The script of docs/report-hash.md, which uses nothing of Salvo, agrees with the hashes that Salvo states."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from salvo.engine.jsonio import json_codec
from salvo.playbooks.audit.integrity import canonical
from salvo.playbooks.report.report import REPORT_HASH_METHOD
from tests.docs.documents import ROOT, blocks
from tests.support.byop_project import TEXT, ByopProject, ScriptedJudge, ScriptedVote, verdict
from tests.support.provider import LoopbackProvider, Say

PAGE = ROOT / "docs" / "report-hash.md"
[SCRIPT] = [block.content for block in blocks(PAGE) if block.language == "python"]
HOLDS = "It has the hash that it states.\n"
ODD = "Größe 日本 😀 \u2028 \x7f é\u0301 and the six characters \\ud800, \\\\udfff, \\\\\\uD800"


@pytest.fixture
def recompute(tmp_path: Path) -> Callable[[Path], str]:
    script = tmp_path / "report_hash.py"
    script.write_text(SCRIPT, encoding="utf-8")

    def run(report: Path) -> str:
        # Isolated, so that nothing but the standard library can be imported.
        command = [sys.executable, "-I", "-S", str(script), str(report)]
        return subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout

    return run


def test_it_recomputes_the_hash_of_a_report_with_any_text_and_floats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recompute: Callable[[Path], str]
) -> None:
    project = ByopProject(tmp_path, monkeypatch)
    project.write("output.md", f"{TEXT}\n{ODD}")
    half = verdict("pass", confidence=1e-7, notes=f"{ODD} HALF").replace("HALF", "half of one: \\ud83d")
    answers: dict[str, ScriptedVote | list[ScriptedVote]] = {
        "assumption_disclosure": [Say(half), Say(verdict("pass", confidence=1 / 3)), Say(verdict("pass"))],
        "certainty_language": Say(verdict("pass", confidence=0.1 + 0.2, notes='\x01\b\f\n\r\t"\\')),
    }
    with LoopbackProvider(ScriptedJudge(answers)) as provider:
        project.reach(provider)
        project.byop(
            "run", "output.md", "-j", "1", "--subject", ODD, "--evaluator", "openai/gpt-5.4-mini", "-o", "report.json"
        )
    file = tmp_path / "report.json"
    report = json.loads(file.read_bytes())["byop_report"]
    assert report["integrity"]["report_hash_method"] == REPORT_HASH_METHOD
    first = report["check_results"][0]["raw_runs"][0]
    assert (first["notes"][-1], first["confidence"]) == ("\ud83d", 1e-07)
    assert recompute(file) == HOLDS
    altered = json.loads(file.read_bytes())
    altered["byop_report"]["subject"] = altered["byop_report"]["subject"].replace("\\ud800", "\ud800")
    file.write_bytes(json_codec.dumps(altered))
    assert recompute(file).startswith("It states sha256:")


def test_it_recomputes_the_hash_of_a_report_of_an_earlier_version(recompute: Callable[[Path], str]) -> None:
    assert (
        recompute(ROOT / "tests" / "playbooks" / "audit" / "verification" / "files" / "signed_over_content.json")
        == HOLDS
    )


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text() | st.text("\\ud80\ud800", max_size=12)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.dictionaries(st.text(), values, max_size=3))
def test_its_canonical_form_is_ours_for_any_value(document: dict[str, Any]) -> None:
    functions: dict[str, Any] = {}
    exec(SCRIPT.partition("\nwith open(")[0], functions)  # noqa: S102 - the page's own script
    assert functions["canonical"](document, reversible=True).encode() == canonical(document)
