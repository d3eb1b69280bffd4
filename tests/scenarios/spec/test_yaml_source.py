"""YAML files as people write them: what is read, and what is reported about the rest, with its position."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from inline_snapshot import snapshot

from salvo.errors import ScenarioFileError
from salvo.scenarios.spec.yaml_source import read_yaml
from tests.support.scenario_files import LEAST, problems, read, write


@pytest.fixture(autouse=True)
def _in_a_project_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("pyproject.toml", "")


def value_of(yaml: str) -> Any:
    """A value as it comes out of a file."""
    scenario = read(write("value.yaml", f"{LEAST}    value: {yaml}\n"))
    return scenario.assertions[0].fields["value"]


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
    result = value_of(yaml)
    assert (result, type(result)) == (value, type(value))


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
            "a second colon": "s.yaml:2:18: is not YAML: a second colon in a line; put a value with a colon in quotes",
            "wrong indentation": "s.yaml:3:2: is not YAML: the indentation differs from the lines above",
            "an open bracket": "s.yaml:2:6: is not YAML: expected ',' or ']', but got ':', while parsing a flow sequence of line 1",
            "an open quote": "s.yaml:2:1: is not YAML: found unexpected end of stream, while scanning a quoted scalar of line 1",
            "an odd first character": "s.yaml:1:8: is not YAML: found character '@' that cannot start any token; put the value in quotes",
            "an alias of nothing": "s.yaml:1:8: is not YAML: an undefined alias; put a value that begins with * in quotes",
            "an impossible escape": "s.yaml:1:11: is not YAML: an escape or a number that does not exist",
            "a line without a key": "s.yaml:3:1: is not YAML: a line without `key:`, or a text that continues without indentation",
            "too deep": "s.yaml:1:65: is nested deeper than 64 levels",
            "too deep by aliases": "s.yaml:1:10: is nested deeper than 64 levels once its aliases are expanded",
            "too many values": "s.yaml:1:40002: holds more than 20,000 values",
            "too large": "s.yaml:1:1: is larger than 1,000,000 bytes",
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
s.yaml:6:16: assertions[0].recursive[0]: an alias to a value that contains it
s.yaml:7:13: assertions[0].python: the tag !!python/object:os.system is not known; there are !include and !file
s.yaml:8:11: assertions[0].date: the tag !!timestamp is not known; there are !include and !file
s.yaml:9:13: assertions[0].number: cannot be read as int
s.yaml:10:11: assertions[0].huge: cannot be read as float
s.yaml:11:14: assertions[0].endless: cannot be read as int
s.yaml:12:11: assertions[0].half: holds half of a surrogate pair, which is not a character
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
shared/limits.yaml:5:3: assertions[1].type: occurs twice; the first is in line 4
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


def test_a_document_knows_the_position_of_everything_in_it() -> None:
    write("part.yaml", "- one\n- two\n")
    document = read_yaml(write("s.yaml", "a:\n  b: [x, y]\nc: !include part.yaml\n"), Path())
    assert {".".join(map(str, path)): position[1:] for path, position in document.key_positions.items()} == {
        "": (1, 1),
        "a": (1, 1),
        "a.b": (2, 3),
        "a.b.0": (2, 7),
        "a.b.1": (2, 10),
        "c": (3, 1),
        "c.0": (1, 3),
        "c.1": (2, 3),
    }
    assert document.position(("c",)).file.name == "part.yaml"
    assert document.key_position(("c",)).file.name == "s.yaml"
    assert document.position(("a", "b", "missing", "deep")) == document.position(("a", "b"))
