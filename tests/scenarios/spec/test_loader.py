"""Scenario files as people write them: what is taken, and that everything wrong in a file is told at once, with its place."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.errors import InputError
from salvo.scenarios.spec.loader import (
    CheckFinding,
    Problem,
    ScenarioFileError,
    from_document,
    read,
    read_all,
    read_tool,
    scenario_document,
)
from salvo.scenarios.spec.schema import Scenario, YamlTool
from salvo.scenarios.spec.variables import expand_variables
from salvo.scenarios.spec.yaml_document import read_document
from tests.support.project import BOOK_FLIGHT

QUICK_DEMO = indent(BOOK_FLIGHT, "  ")
"""Indented, as it stands in the document that people paste it from."""

LEAST = """\
scenario: least
adapter: openai
user_message: Hello
assertions:
  - type: cost_limit
"""


@pytest.fixture(autouse=True)
def _in_a_project_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("pyproject.toml", "")


def write(name: str, text: str | bytes) -> Path:
    file = Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def problems(text: str | bytes, name: str = "s.yaml", **options: Any) -> str:
    """What a person would read about a file."""
    with pytest.raises(ScenarioFileError) as raised:
        read(write(name, text), **options)
    assert str(raised.value) == "\n".join(str(problem) for problem in raised.value.problems)
    return str(raised.value)


def value_of(yaml: str) -> Any:
    """A value as it comes out of a file."""
    scenario = read(write("value.yaml", f"{LEAST}    value: {yaml}\n"))
    return scenario.assertions[0].fields["value"]


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
    assert scenario_document(read(write("least.yaml", LEAST))) == snapshot(
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
            "adapter_options": {},
        }
    )


@pytest.mark.parametrize(
    "yaml, value",
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("on", "on"),
        ("~", None),
        ("", None),
        ("42", 42),
        ("-3", -3),
        ("0x1F", 31),
        ("0o17", 15),
        ("017", "017"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("2026-03-15", "2026-03-15"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1.2.3", "1.2.3"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("=", "="),
        ("'42'", "42"),
        ("!!str 42", "42"),
        ("!!float 42", 42.0),
        (r'"\ud83d\ude00"', "😀"),
        ("{1: a, true: b, on: c}", {"1": "a", "true": "b", "on": "c"}),
    ],
)
def test_a_scalar_is_what_it_looks_like(yaml: str, value: Any) -> None:
    found = value_of(yaml)
    assert (found, type(found)) == (value, type(value))


def test_aliases_and_merges_are_filled_in() -> None:
    text = """\
        scenario: merged
        adapter: openai
        user_message: &said Hello
        description: *said
        assertions:
          - &base {type: jmespath, path: a, weight: 2}
          - {<<: *base, path: b}
          - <<: [{weight: 3}, *base]
    """
    scenario = read(write("merged.yaml", dedent(text)))
    assert scenario.description == "Hello"
    assert [(it.fields["path"], it.weight) for it in scenario.assertions] == [("a", 2), ("b", 2), ("a", 3)]


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
scenarios/book.yaml:1:1: scenario: must begin with a letter or digit, and hold at most 100 letters, digits, spaces and _ . - only
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
scenarios/book.yaml:15:9: tools[3].responses[1]: has a result and an error; a call comes to one of them
scenarios/book.yaml:16:5: tools[4].name: must hold at most 64 letters, digits, _ and - only, as the providers require
scenarios/book.yaml:17:1: whatever: no such field; there are scenario, adapter, model, user_message, assertions, description, tags, system_prompt, tools, runs, timeout, threshold, min_pass_rate, confidence, max_turns, temperature, seed, concurrency, output_schema, adapter_options
scenarios/book.yaml:19:5: assertions[0].tpye: no such field; did you mean "type"?
scenarios/book.yaml:22:5: assertions[1].required: must be true or false, not text
scenarios/book.yaml:23:5: assertions[1].weight: must be at least 0
scenarios/book.yaml:25:5: assertions[2].type: stands twice; the first is in line 24
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


UNREADABLE = {
    "an empty file": b"",
    "only comments": b"# nothing\n",
    "a list": b"- scenario: x\n",
    "a text": b"scenario\n",
    "a tab": b"scenario: x\nadapter:\n\tname: y\n",
    "several documents": b"scenario: x\n---\nscenario: y\n",
    "not UTF-8": b"scenario: x\ndescription: caf\xe9\n",
    "UTF-16": "scenario: x\n".encode("utf-16"),
    "a control character": b"scenario: x\ndescription: a\x07b\n",
    "a second colon": b"scenario: x\nuser_message: Say: hello\n",
    "wrong indentation": b"tools:\n  - a\n - b\n",
    "an open bracket": b"tools: [a, b\nmodel: x\n",
    "an open quote": b'model: "x\n',
    "an odd first character": b"model: @x\n",
    "an alias of nothing": b"model: *x\n",
    "an impossible escape": b'model: "\\UFFFFFFFF"\n',
    "a line without a key": b"scenario: x\nhello\nmodel: y\n",
    "too deep": b"[" * 10_000,
    "too deep by aliases": b"a0: &a0 [1]\n" + b"".join(b"a%d: &a%d [*a%d]\n" % (n, n, n - 1) for n in range(1, 99)),
    "too many values": b"tags: [" + b"a," * 30_000 + b"]\n",
    "too large": b"#" * 1_000_001,
    "a bomb": b"a0: &a0 [x, x]\n" + b"".join(b"a%d: &a%d [*a%d, *a%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 40)),
    "a bomb of text": b"a: &a " + b"x" * 10_000 + b"\nb: [" + b"*a, " * 1000 + b"]\n",
}


def test_what_is_no_scenario_at_all_says_why_in_one_line() -> None:
    assert {name: problems(content) for name, content in UNREADABLE.items()} == snapshot(
        {
            "an empty file": "s.yaml:1:1: is empty",
            "only comments": "s.yaml:1:1: is empty",
            "a list": "s.yaml:1:1: must be a mapping: lines of `field: value`",
            "a text": "s.yaml:1:1: must be a mapping: lines of `field: value`",
            "a tab": "s.yaml:3:1: is indented with a tab; YAML takes spaces",
            "several documents": "s.yaml:2:1: holds several documents (---); write a file for each",
            "not UTF-8": "s.yaml:2:17: is not UTF-8: byte 0xe9 at offset 28; save the file as UTF-8",
            "UTF-16": "s.yaml:1:1: is not UTF-8: byte 0xff at offset 0; save the file as UTF-8",
            "a control character": "s.yaml:2:15: holds the character U+0007; remove it",
            "a second colon": "s.yaml:2:18: is not YAML: a second colon in one line; a value that holds one must stand in quotes",
            "wrong indentation": "s.yaml:3:2: is not YAML: the indentation is not that of the lines above it",
            "an open bracket": "s.yaml:2:6: is not YAML: expected ',' or ']', but got ':', while parsing a flow sequence of line 1",
            "an open quote": "s.yaml:2:1: is not YAML: found unexpected end of stream, while scanning a quoted scalar of line 1",
            "an odd first character": "s.yaml:1:8: is not YAML: found character '@' that cannot start any token; put the value in quotes",
            "an alias of nothing": "s.yaml:1:8: is not YAML: an alias that nothing defines; a value that begins with * must stand in quotes",
            "an impossible escape": "s.yaml:1:11: is not YAML: an escape or a number that does not exist",
            "a line without a key": "s.yaml:3:1: is not YAML: a line without `key:`, or a text that goes on without indentation",
            "too deep": "s.yaml:1:65: is nested deeper than 64 levels",
            "too deep by aliases": "s.yaml:1:10: is nested deeper than 64 levels once its aliases are expanded",
            "too many values": "s.yaml:1:40002: holds more than 20,000 values, which no scenario does",
            "too large": "s.yaml:1:1: is larger than 1,000,000 bytes, which no scenario is",
            "a bomb": "s.yaml:2:5: is too large once its aliases and includes are expanded",
            "a bomb of text": "s.yaml:1:4: is too large once its aliases and includes are expanded",
        }
    )


def test_values_that_cannot_be_are_told_beside_everything_else() -> None:
    text = f"""\
{LEAST}\
    recursive: &r [*r]
    python: !!python/object:os.system {{}}
    date: !!timestamp 2026-03-15
    number: !!int many
    huge: 1e999
    endless: {"9" * 5000}
    half: "\\ud800"
    merged: {{<<: 3}}
    ? [a, b]
    : c
runs: 0
"""
    assert problems(text) == snapshot("""\
s.yaml:6:16: assertions[0].recursive[0]: an alias to what it stands in
s.yaml:7:13: assertions[0].python: the tag !!python/object:os.system is not known; there is !include
s.yaml:8:11: assertions[0].date: the tag !!timestamp is not known; there is !include
s.yaml:9:13: assertions[0].number: cannot be read as int
s.yaml:10:11: assertions[0].huge: cannot be read as float
s.yaml:11:14: assertions[0].endless: cannot be read as int
s.yaml:12:11: assertions[0].half: holds half of a surrogate pair, which is no character
s.yaml:13:18: assertions[0].merged: << takes a mapping, or a list of them
s.yaml:14:7: assertions[0]: a key must be text
s.yaml:16:1: runs: must be at least 1\
""")


@pytest.mark.parametrize(
    "path, said",
    [
        ("missing.yaml", snapshot("missing.yaml:1:1: there is no such file")),
        ("scenarios", snapshot("scenarios:1:1: is a folder, not a file")),
        ("s.yaml/t.yaml", snapshot("s.yaml/t.yaml:1:1: cannot be read: Not a directory")),
    ],
)
def test_what_is_no_file_says_so(path: str, said: str) -> None:
    write("s.yaml", LEAST)
    Path("scenarios").mkdir()
    with pytest.raises(ScenarioFileError) as raised:
        read(Path(path))
    assert str(raised.value) == said


def test_an_included_file_stands_for_its_content() -> None:
    write("shared/limits.yaml", "- type: cost_limit\n  max_usd: 1\n- !include latency.yaml\n")
    write("shared/latency.yaml", "type: latency_limit\nmax_seconds: 3\n")
    write("shared/defaults.yaml", "adapter: openai\nruns: 7\nmodel: gpt-4o\n")
    write("prompts/agent.md", "# You are: an agent\n")
    text = """\
        <<: !include ../shared/defaults.yaml
        scenario: included
        runs: 9
        system_prompt: !include ../prompts/agent.md
        user_message: Hello
        assertions: !include ../shared/limits.yaml
    """
    scenario = read(write("scenarios/included.yaml", dedent(text)))
    assert (scenario.adapter, scenario.runs, scenario.model) == ("openai", 9, "gpt-4o")
    assert scenario.system_prompt == "# You are: an agent\n"
    assert [assertion.type for assertion in scenario.assertions] == ["cost_limit", "latency_limit"]


def test_problems_in_an_included_file_are_told_at_its_own_lines() -> None:
    write("shared/limits.yaml", "# limits\n- type: cost_limit\n  weight: -1\n- type: x\n  type: y\n- wieght: 3\n")
    write("shared/defaults.yaml", "adapter: openai\nrnus: 7\n")
    write("shared/broken.yaml", "a: [\n")
    write("shared/latin.yaml", b"a\n\xe9")
    text = """\
        <<: !include shared/defaults.yaml
        scenario: included
        user_message: Hello
        description: !include shared/broken.yaml
        system_prompt: !include shared/latin.yaml
        runs: -1
        assertions: !include shared/limits.yaml
    """
    assert problems(dedent(text)) == snapshot("""\
s.yaml:6:1: runs: must be at least 1
shared/broken.yaml:2:1: description: is not YAML: expected the node content, but found '<stream end>', while parsing a flow node of line 2
shared/defaults.yaml:2:1: rnus: no such field; did you mean "runs"?
shared/latin.yaml:2:1: system_prompt: is not UTF-8: byte 0xe9 at offset 2; save the file as UTF-8
shared/limits.yaml:3:3: assertions[0].weight: must be at least 0
shared/limits.yaml:5:3: assertions[1].type: stands twice; the first is in line 4
shared/limits.yaml:6:3: assertions[2].type: is missing\
""")


def test_what_cannot_be_included_is_told_where_it_is_asked_for(tmp_path: Path) -> None:
    Path("project/.git").mkdir(parents=True)
    write("secret.yaml", "key: hidden away\n")
    write("project/a.yaml", "x: !include b.yaml\n")
    write("project/b.yaml", "y: !include a.yaml\n")
    write("project/.env", "KEY=hidden away\n")
    Path("project/link.yaml").symlink_to(tmp_path / "secret.yaml")
    text = f"""\
        description: !include missing.yaml
        model: !include ../secret.yaml
        adapter: !include {tmp_path}/secret.yaml
        tags: !include link.yaml
        system_prompt: !include .env
        runs: !include a.yaml
        seed: !include
        tools: !include [a.yaml]
        timeout: !include .
        adapter_options: !include s.yaml
    """
    said = problems(dedent(text), "project/s.yaml").replace(str(tmp_path), "TMP")
    assert "hidden away" not in said
    assert said == snapshot("""\
project/s.yaml:1:1: scenario: is missing
project/s.yaml:1:1: user_message: is missing
project/s.yaml:1:1: assertions: is missing
project/s.yaml:1:14: description: !include missing.yaml: there is no such file
project/s.yaml:2:8: model: !include ../secret.yaml: is outside the project
project/s.yaml:3:10: adapter: !include TMP/secret.yaml: is outside the project
project/s.yaml:4:7: tags: !include link.yaml: is outside the project
project/s.yaml:5:16: system_prompt: !include .env: only files that end in .yaml, .yml, .json, .md, .txt can be included
project/s.yaml:7:7: seed: !include takes the name of a file
project/s.yaml:8:8: tools: !include takes the name of a file
project/s.yaml:9:10: timeout: !include .: only files that end in .yaml, .yml, .json, .md, .txt can be included
project/s.yaml:10:18: adapter_options: !include s.yaml: includes itself
project/a.yaml:1:1: runs: must be a whole number, not a mapping
project/b.yaml:1:4: runs.x.y: !include a.yaml: includes itself\
""")


def test_includes_may_reach_as_far_as_the_root_that_the_caller_names() -> None:
    write("inner/pyproject.toml", "")
    write("shared.yaml", "- type: cost_limit\n")
    file = write("inner/s.yaml", LEAST.replace("\n  - type: cost_limit", " !include ../shared.yaml"))
    with pytest.raises(ScenarioFileError):
        read(file)
    assert read(file, root=Path()).assertions[0].type == "cost_limit"
    with pytest.raises(ScenarioFileError):
        read(file, root=Path("elsewhere"))


def test_includes_that_multiply_are_stopped() -> None:
    for number in range(20):
        write(f"{number}.yaml", f"[!include {number + 1}.yaml, !include {number + 1}.yaml]")
    assert problems("a: !include 0.yaml\n") == snapshot(
        "19.yaml:1:20: is too large once its aliases and includes are expanded"
    )


def test_variables_are_filled_in_the_adapters_options_and_nowhere_else() -> None:
    text = f"""{LEAST}
system_prompt: echo ${{HOME}} $${{HOME}}
adapter_options:
  base_url: http://${{HOST}}:${{PORT}}/v1
  headers: [{{x: "${{EMPTY}}${{HOST}}"}}, $HOST, 3]
  escaped: $${{HOST}} ${{HOST
"""
    scenario = read(write("s.yaml", text), environ={"HOST": "here", "PORT": "80", "EMPTY": ""})
    assert scenario.system_prompt == "echo ${HOME} $${HOME}"
    assert "here" not in str(scenario), "what is stored is what stands in the file"
    assert expand_variables(scenario.adapter_options, {"HOST": "here", "PORT": "80", "EMPTY": ""}) == {
        "base_url": "http://here:80/v1",
        "headers": [{"x": "here"}, "$HOST", 3],
        "escaped": "${HOST} ${HOST",
    }


def test_a_variable_comes_from_the_process_if_no_other_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SALVO_TEST_HOST", "there")
    file = write("s.yaml", f"{LEAST}adapter_options: {{base_url: '${{SALVO_TEST_HOST}}'}}\n")
    assert expand_variables(read(file).adapter_options, os.environ) == {"base_url": "there"}


def test_a_variable_that_is_not_set_is_named_and_no_value_is_ever_told() -> None:
    text = f"""{LEAST}
adapter_options:
  key: ${{KEY}} ${{NO_SUCH_KEY}}
  other: [a, "${{not a name}}"]
runs: none
"""
    said = problems(text, environ={"KEY": "sk-secret-secret"})
    assert "secret-secret" not in said
    assert said == snapshot("""\
s.yaml:8:3: adapter_options.key: the environment variable NO_SUCH_KEY is not set
s.yaml:9:14: adapter_options.other[1]: ${...} takes the name of an environment variable; $${...} is left as it stands
s.yaml:10:1: runs: must be a whole number, not text\
""")
    scalar = problems(f"{LEAST}adapter_options: ${{KEY}}\n", environ={"KEY": "sk-secret-secret"})
    assert scalar == snapshot("s.yaml:6:1: adapter_options: must be a mapping, not text")


def _suspicious(scenario: Scenario, path: Path) -> Iterator[CheckFinding]:
    assert path.name == "s.yaml"
    for index, assertion in enumerate(scenario.assertions):
        if assertion.type != "cost_limit":
            yield CheckFinding(("assertions", index, "type"), f"there is no type {assertion.type}")
        if "max_usd" not in assertion.fields:
            yield CheckFinding(("assertions", index, "max_usd"), "is missing")
    for index, tool in enumerate(scenario.tools):
        yield CheckFinding(("tools", index), f"there is no tool {tool if isinstance(tool, str) else tool.name}")
    if not scenario.model:
        yield CheckFinding(("adapter",), "needs a model")


def test_what_the_checks_find_is_told_with_its_place() -> None:
    assert problems(f"{LEAST}tools: [a, b]\nmodel: x\n", checks=[_suspicious]) == snapshot("""\
s.yaml:5:5: assertions[0].max_usd: is missing
s.yaml:6:9: tools[0]: there is no tool a
s.yaml:6:12: tools[1]: there is no tool b\
""")


def test_the_checks_are_made_even_where_the_shape_is_wrong_and_say_nothing_about_what_nobody_wrote() -> None:
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
    assert problems(dedent(text), checks=[_suspicious]) == snapshot("""\
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


def test_a_check_that_fails_is_a_problem_of_the_whole_file() -> None:
    def failing(_scenario: Scenario, _path: Path) -> Iterator[CheckFinding]:
        raise InputError("The first line.\nThe second.", hint="Mend it.")

    assert problems(LEAST, checks=[failing]) == snapshot("s.yaml:1:1: The first line.; The second. Mend it.")


def test_all_files_are_read_whatever_is_wrong_with_some() -> None:
    files = [
        write("a.yaml", LEAST),
        write("b.yaml", LEAST.replace("adapter", "adaptor")),
        write("c.yaml", LEAST.replace("least", "other")),
        write("d.yaml", f"# again\n{LEAST}"),
    ]
    usable, found = read_all(files)
    assert [(path.name, scenario.scenario) for path, scenario in usable] == [("a.yaml", "least"), ("c.yaml", "other")]
    assert [str(problem) for problem in found] == snapshot(
        [
            'b.yaml:2:1: adaptor: no such field; did you mean "adapter"?',
            'd.yaml:2:1: scenario: "least" is also the name of a.yaml',
        ]
    )


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
    document = json.loads(json.dumps(scenario_document(scenario)))
    assert from_document(document) == scenario
    with pytest.raises(InputError) as raised:
        from_document({**document, "from_the_future": 1, "runs": "many"})
    assert str(raised.value) == snapshot(
        "The stored scenario cannot be used: runs: must be a whole number, not text; from_the_future: no such field; there are scenario, adapter, model, user_message, assertions, description, tags, system_prompt, tools, runs, timeout, threshold, min_pass_rate, confidence, max_turns, temperature, seed, concurrency, output_schema, adapter_options. Was it stored by another version?"
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
    file = write("hostile.yaml", content)
    _, found = read_all(
        [file], checks=[lambda _scenario, _path: [CheckFinding(("assertions", 0, "x"), "wrong")]], environ={}
    )
    assert found
    for problem in found:
        assert "\n" not in str(problem)
        assert 1 <= problem.line <= len(content.decode(errors="replace").splitlines()) + 1
        assert problem.column >= 1


def test_a_document_knows_the_place_of_everything_in_it() -> None:
    write("part.yaml", "- one\n- two\n")
    document = read_document(write("s.yaml", "a:\n  b: [x, y]\nc: !include part.yaml\n"), Path())
    assert {".".join(map(str, steps)): place[1:] for steps, place in document.keys.items()} == {
        "": (1, 1),
        "a": (1, 1),
        "a.b": (2, 3),
        "a.b.0": (2, 7),
        "a.b.1": (2, 10),
        "c": (3, 1),
        "c.0": (1, 3),
        "c.1": (2, 3),
    }
    assert document.place(("c",)).file.name == "part.yaml"
    assert document.place_of_key(("c",)).file.name == "s.yaml"
    assert document.place(("a", "b", "missing", "deep")) == document.place(("a", "b"))
