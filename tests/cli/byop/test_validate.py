"""`byop validate`."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from inline_snapshot import snapshot

from salvo.cli.byop import byop
from salvo.cli.exit_codes import ExitCode
from tests.support.playbook import changed, document


def run(*arguments: str) -> Result:
    return CliRunner().invoke(byop, list(arguments))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("mine.json")


def write(file: Path, content: Any) -> None:
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


BAD = """\
{
  "metadata": {"id": "mine", "versoin": "1", "autor": "me"},
  "checks": [
    {
      "id": "a", "severity": "hgih", "question": "",
      "detection_method": {"type": "semantic", "instuctions": "PASS if \\u202e"},
      "result_states": ["pass", "maybe"]
    },
    {
      "id": "a", "severity": "medium", "severity": "high", "question": "Why?",
      "detection_method": {"type": "pattern", "patterns": ["(", "\\u009b31m["]}
    }
  ],
  "variance_handling": {"min_runs": 1, "thresholds": {"ok": 0.5, "warn": 7}}
}
"""


def test_validate_lists_every_problem_with_its_path_errors_first(file: Path) -> None:
    write(file, BAD)
    ended = run("validate", "mine.json")
    assert ended.exit_code == ExitCode.USAGE
    assert ended.output == snapshot("""\
error    $.checks[1].severity: occurs more than once: it is not clear which one counts
error    $.metadata.versoin: no such field; did you mean "version"?
error    $.checks[0].severity: must be one of high, medium; did you mean "high"?
error    $.checks[0].question: must not be empty
error    $.checks[0].result_states[1]: must be one of pass, fail, indeterminate
error    $.checks[1].detection_method.patterns[0]: "(" is not a regular expression: missing ), unterminated subpattern at position 0
error    $.checks[1].detection_method.patterns[1]: "\\x9b31m[" is not a regular expression: unterminated character set at position 4
error    $.variance_handling.min_runs: must be at least 3
error    $.variance_handling.thresholds.warn: must be at most 1
error    $.checks[0].detection_method.instructions: is missing: a semantic check must tell the evaluator how to decide
error    $.checks[1].id: is already the id of check 1
warning  $.metadata.autor: no such field; did you mean "author"?
warning  $.metadata.created_at: is missing; the specification asks for it
warning  $.metadata.jurisdiction: is missing; the specification asks for it
warning  $.metadata.intended_use: is missing; the specification asks for it
warning  $.input_contract: is missing; the specification asks for it
warning  $.assumptions: is missing; the specification asks for it
warning  $.risk_posture: is missing; the specification asks for it
warning  $.checks[0].detection_method.instuctions: no such field; did you mean "instructions"?
warning  $.checks[0].evidence_requirements: is missing; the specification asks for it
warning  $.checks[1].result_states: is missing; the specification asks for it
warning  $.checks[1].evidence_requirements: is missing; the specification asks for it
warning  $.variance_handling.aggregation: is missing; the specification asks for it
warning  $.output_contract: is missing; the specification asks for it
warning  $.logging: is missing; the specification asks for it
warning  $.checks[0].result_states: lacks fail and indeterminate, which can be the result all the same
warning  $.checks[1].detection_method.on_match: is missing: the check fails if a pattern occurs. Write fail or pass
mine.json cannot be used: 11 errors, 16 warnings.
""")


def test_validate_says_where_a_file_is_not_json(file: Path) -> None:
    write(file, '{\n  "checks": [\n')
    ended = run("validate", "mine.json")
    assert ended.exit_code == ExitCode.USAGE
    assert ended.output == snapshot("""\
error    $: is not JSON: line 3, column 1: expecting value
mine.json cannot be used: 1 error, no warnings.
""")


def test_validate_passes_what_has_only_warnings(file: Path) -> None:
    lacking = changed("logging", ...)
    del lacking["output_contract"]["required_fields"]
    write(file, lacking)
    ended = run("validate", "mine.json")
    assert ended.exit_code == ExitCode.OK
    assert ended.output == snapshot("""\
warning  $.output_contract.assumptions_extracted: is missing; the specification asks for it
warning  $.output_contract.uncertainty: is missing; the specification asks for it
warning  $.output_contract.unchecked_areas: is missing; the specification asks for it
warning  $.output_contract.limitations: is missing; the specification asks for it
warning  $.logging: is missing; the specification asks for it
mine.json is a valid playbook: no errors, 5 warnings.
""")


def test_validate_passes_a_complete_playbook(file: Path) -> None:
    write(file, document())
    ended = run("validate", "mine.json")
    assert (ended.exit_code, ended.output) == (0, "mine.json is a valid playbook: no errors, no warnings.\n")


def test_validate_answers_in_json_too(file: Path) -> None:
    bad = changed("checks.0.severity", "low")
    del bad["logging"]
    write(file, bad)
    ended = run("validate", "mine.json", "--json")
    assert ended.exit_code == ExitCode.USAGE
    assert json.loads(ended.stdout) == {
        "file": "mine.json",
        "valid": False,
        "errors": [{"path": "$.checks[0].severity", "message": "must be one of high, medium"}],
        "warnings": [{"path": "$.logging", "message": "is missing; the specification asks for it"}],
    }
