"""Scenario files as people write them: what is taken, and that everything wrong in a file is reported at once."""

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, indent

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.engine.jsonio.pydantic_errors import FieldError
from salvo.errors import InputError, Problem, ScenarioFileError
from salvo.scenarios.spec.loader import from_document, load_scenarios, read_tool
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.spec.tool_schema import YamlTool
from tests.support.project import BOOK_FLIGHT
from tests.support.scenario_files import LEAST, problems, read, write

QUICK_DEMO = indent(BOOK_FLIGHT, "  ")
"""Indented, as it stands in the document that people paste it from."""


@pytest.fixture(autouse=True)
def _in_a_project_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("pyproject.toml", "")


@pytest.mark.parametrize("text", [QUICK_DEMO, dedent(QUICK_DEMO), f"\ufeff---\n{QUICK_DEMO}"])
def test_the_documents_own_scenario_is_taken_as_it_stands(text: str) -> None:
    scenario = read(write("scenarios/book_flight.yaml", text))
    assert (scenario.scenario, scenario.runs, scenario.timeout, scenario.threshold) == ("book_flight", 10, 30.0, 0.8)
    assert scenario.tools == ["search_flights", "book_flight", "get_booking_confirmation"]
    assert scenario.user_message.startswith("Book the cheapest")
    assert [assertion.label for assertion in scenario.assertions] == [
        "tool_sequence",
        "confirmation_id",
        "cost_limit",
        "latency_limit",
    ]
    assert scenario.assertions[0].required
    assert scenario.assertions[1].fields == {
        "path": "final_output.confirmation_id",
        "operator": "regex",
        "value": "^[A-Z]{6}$",
    }


def test_what_is_not_said_has_its_default() -> None:
    assert read(write("least.yaml", LEAST)).model_dump(mode="json") == snapshot(
        {
            "scenario": "least",
            "adapter": "openai",
            "model": "",
            "user_message": "Hello",
            "assertions": [{"type": "cost_limit", "name": None, "required": False, "weight": 1.0}],
            "description": "",
            "tags": [],
            "system_prompt": "",
            "tools": [],
            "mcp_servers": {},
            "runs": 1,
            "timeout": 60.0,
            "threshold": 1.0,
            "min_pass_rate": 1.0,
            "confidence": None,
            "max_turns": 20,
            "temperature": None,
            "seed": None,
            "concurrency": None,
            "output_schema": None,
            "record": {"ignore": []},
            "adapter_options": {},
        }
    )


EVERYTHING_WRONG = """\
scenario: book flight!
adapter: 3
runs: "10"
modle: gpt-4o
threshold: 1.5
user_mesage: Hello
tags: nothing
tools:
  - search_flights
  - {name: book, respons: 3}
  - 4
  - name: cancel
    responses:
      - {resut: 3, delay: -1}
      - {result: 3, error: both}
  - name: no spaces
whatever: 1
assertions:
  - tpye: jmespath
    path: x
  - type: cost_limit
    required: yes
    weight: -1
  - type: tool_sequence
    type: jmespath
  - 3
"""


def test_every_problem_of_a_file_is_told_at_once() -> None:
    assert problems(EVERYTHING_WRONG, "scenarios/book.yaml") == snapshot("""\
scenarios/book.yaml:1:1: scenario: must begin with a letter or digit, and have at most 100 letters, digits, spaces and _ . -
scenarios/book.yaml:2:1: adapter: must be text, not a number; put it in quotes
scenarios/book.yaml:3:1: runs: must be a whole number, not text
scenarios/book.yaml:4:1: modle: no such field; did you mean "model"?
scenarios/book.yaml:5:1: threshold: must be at most 1
scenarios/book.yaml:6:1: user_mesage: no such field; did you mean "user_message"?
scenarios/book.yaml:7:1: tags: must be a list, not text
scenarios/book.yaml:10:18: tools[1].respons: no such field; did you mean "response"?
scenarios/book.yaml:11:5: tools[2]: must be a name or a definition, not a number
scenarios/book.yaml:14:10: tools[3].responses[0].resut: no such field; did you mean "result"?
scenarios/book.yaml:14:20: tools[3].responses[0].delay: must be at least 0
scenarios/book.yaml:15:9: tools[3].responses[1]: has a result and an error; a call returns one of them
scenarios/book.yaml:16:5: tools[4].name: must have at most 64 letters, digits, _ and -, as the providers require
scenarios/book.yaml:17:1: whatever: no such field; there are scenario, adapter, model, turns, user, user_message, assertions, description, tags, system_prompt, tools, mcp_servers, runs, timeout, threshold, min_pass_rate, confidence, labels, max_turns, temperature, seed, concurrency, output_schema, record, adapter_options
scenarios/book.yaml:19:5: assertions[0].tpye: no such field; did you mean "type"?
scenarios/book.yaml:22:5: assertions[1].required: must be true or false, not text
scenarios/book.yaml:23:5: assertions[1].weight: must be at least 0
scenarios/book.yaml:25:5: assertions[2].type: occurs twice; the first is in line 24
scenarios/book.yaml:26:5: assertions[3]: must be a mapping, not a number\
""")


def test_what_is_missing_is_told_where_it_belongs() -> None:
    assert problems("model: gpt-4o\ntools:\n  - description: a tool\n") == snapshot("""\
s.yaml:1:1: scenario: is missing
s.yaml:1:1: adapter: is missing
s.yaml:1:1: user_message: is missing
s.yaml:1:1: assertions: is missing
s.yaml:3:5: tools[0].name: is missing\
""")
    assert problems(LEAST.replace("- type: cost_limit", "- weight: 1").replace("Hello", '""')) == snapshot("""\
s.yaml:3:1: user_message: must not be empty
s.yaml:5:5: assertions[0].type: is missing\
""")
    assert problems(LEAST.replace("\n  - type: cost_limit", " []")) == snapshot(
        "s.yaml:4:1: assertions: must not be empty"
    )


def test_problems_carry_their_parts() -> None:
    with pytest.raises(ScenarioFileError) as raised:
        read(write("scenarios/s.yaml", LEAST.replace("user_message", "modle: x\nuser_message")))
    [problem] = raised.value.problems
    assert problem == Problem("scenarios/s.yaml", 3, 1, "modle", 'no such field; did you mean "model"?')


def _suspicious(scenario: Scenario) -> Iterator[FieldError]:
    for index, assertion in enumerate(scenario.assertions):
        if assertion.type != "cost_limit":
            yield FieldError(("assertions", index, "type"), f"there is no type {assertion.type}")
        if "max_usd" not in assertion.fields:
            yield FieldError(("assertions", index, "max_usd"), "is missing")
    for index, tool in enumerate(scenario.tools):
        yield FieldError(("tools", index), f"there is no tool {tool if isinstance(tool, str) else tool.name}")
    if not scenario.model:
        yield FieldError(("adapter",), "needs a model")


def test_what_a_check_reports_gets_its_position() -> None:
    assert problems(f"{LEAST}tools: [a, b]\nmodel: x\n", check=_suspicious) == snapshot("""\
s.yaml:5:5: assertions[0].max_usd: is missing
s.yaml:6:9: tools[0]: there is no tool a
s.yaml:6:12: tools[1]: there is no tool b\
""")


def test_a_draft_is_checked_where_the_schema_is_violated_and_its_stand_ins_are_not_reported() -> None:
    text = """\
        scenario: checked
        adapter: openai
        modle: gpt-4o
        threshold: high
        tools: [a, 3, {name: c, nmae: d}]
        assertions:
          - type: cost_limit
            weight: -1
          - type: made_up
            max_usd: 1
          - tpye: also_made_up
            max_usd: 1
          - weight: 3
          - 5
    """
    assert problems(dedent(text), check=_suspicious) == snapshot("""\
s.yaml:1:1: user_message: is missing
s.yaml:3:1: modle: no such field; did you mean "model"?
s.yaml:4:1: threshold: must be a number, not text
s.yaml:5:9: tools[0]: there is no tool a
s.yaml:5:12: tools[1]: must be a name or a definition, not a number
s.yaml:5:15: tools[2]: there is no tool c
s.yaml:5:25: tools[2].nmae: no such field; did you mean "name"?
s.yaml:7:5: assertions[0].max_usd: is missing
s.yaml:8:5: assertions[0].weight: must be at least 0
s.yaml:9:5: assertions[1].type: there is no type made_up
s.yaml:11:5: assertions[2].tpye: no such field; did you mean "type"?
s.yaml:11:5: assertions[2].type: there is no type also_made_up
s.yaml:13:5: assertions[3].type: is missing
s.yaml:14:5: assertions[4]: must be a mapping, not a number\
""")


def test_a_message_of_several_lines_becomes_one_line() -> None:
    errors = [FieldError((), "The first line.\nThe second.")]
    assert problems(LEAST, check=lambda _: errors) == snapshot("s.yaml:1:1: The first line.; The second.")


def test_variables_are_checked_only_with_an_environment() -> None:
    file = write("s.yaml", f"{LEAST}adapter_options: {{base_url: '${{NO_SUCH_HOST}}'}}\n")
    assert load_scenarios(file, environ={})[0].problems
    assert not load_scenarios(file)[0].problems


def test_a_tools_own_file_is_read_and_refused_in_the_same_way() -> None:
    file = write("tools/search.yaml", "name: search\nresponses:\n  - {when: {to: JFK}, result: [1]}\n  - error: full\n")
    tool = read_tool(file)
    assert isinstance(tool, YamlTool)
    assert [response.error for response in tool.responses or []] == [None, "full"]
    write("tools/search.yaml", "name: search\nresponse: 1\nparameter: {}\n")
    with pytest.raises(ScenarioFileError) as raised:
        read_tool(file)
    assert str(raised.value) == snapshot('tools/search.yaml:3:1: parameter: no such field; did you mean "parameters"?')


def test_a_scenario_survives_being_stored() -> None:
    text = f"""{LEAST}    nested: {{value: [1, null, "x"]}}
tools:
  - search
  - {{name: book, responses: [{{when: {{a: 1}}, result: 1}}, {{error: full, delay: 0.5}}]}}
  - {{name: cancel, response: {{ok: true}}}}
output_schema: {{type: object}}
"""
    scenario = read(write("s.yaml", text))
    document = json.loads(scenario.model_dump_json())
    assert from_document(document) == scenario
    with pytest.raises(InputError) as raised:
        from_document({**document, "from_the_future": 1, "runs": "many"})
    assert str(raised.value) == snapshot(
        "The stored scenario cannot be used: runs: must be a whole number, not text; from_the_future: no such field; there are scenario, adapter, model, turns, user, user_message, assertions, description, tags, system_prompt, tools, mcp_servers, runs, timeout, threshold, min_pass_rate, confidence, labels, max_turns, temperature, seed, concurrency, output_schema, record, adapter_options. Was it stored by another version?"
    )


WORDS = [
    "scenario: x\n",
    "assertions:\n",
    "- type: y\n",
    "adapter_options: ",
    "${A}",
    "!include s.yaml",
    "<<: *a",
    "&a ",
]
MARKS = list("\n\n\t  -:[]{}!&*<>|'\"%#?~\\U01e\ufeff\u2028\x85😀")
HOSTILE = st.lists(st.sampled_from([*WORDS, *MARKS])).map("".join)


@given(st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode), HOSTILE.map(str.encode)))
@example(indent(QUICK_DEMO, "\t").encode())
@example(b"%YAML 1." + b"1" * 5000)
@example(b'"\\UFFFFFFFF"')
@example(b"a: " + b"9" * 5000)
@example(b"!include \x00")
@example(b'a: !include "\\0"')
@example(b"<<: [[1]]")
@example(b"? {a: b}\n: c")
@example(b"tools: [{? [x] : y}]")
def test_no_bytes_at_all_make_the_loader_raise_anything_else(content: bytes) -> None:
    loaded = load_scenarios(write("hostile.yaml", content), environ={})[0]
    if loaded.draft():
        loaded.report([FieldError(("assertions", 0, "x"), "wrong")])
    assert loaded.problems
    for problem in loaded.problems:
        assert "\n" not in str(problem)
        assert 1 <= problem.line <= len(content.decode(errors="replace").splitlines()) + 1
        assert problem.column >= 1
