"""Scenario files with cases and a matrix: which cells they have, what is in them, and what is refused."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from salvo.scenarios.spec.loader import LoadedFile, load_scenarios, merge_problems
from salvo.scenarios.spec.schema import Scenario
from tests.support.scenario_files import write

REFUND = """\
scenario: refund
adapter: openai
model: gpt-5.4-mini
user_message: "Refund order {{ order }} for {{ customer }}."
assertions:
  - {type: jmespath, path: final_output, operator: contains, value: "{{ order }}"}
"""
CASES = "id,order,customer\nlate,A-1001,Ann\nearly,A-1002,Bob\n"
ONE_ASSERTION = "assertions: [{type: jmespath, path: final_output, operator: exists}]\n"


@pytest.fixture(autouse=True)
def _in_a_project_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("pyproject.toml", "")


def load(text: str, **files: str) -> list[LoadedFile[Scenario]]:
    for name, content in files.items():
        write(name.replace("__", "."), content)
    return load_scenarios(write("s.yaml", text), environ={})


def cells(text: str, **files: str) -> dict[str, Scenario]:
    models = [item.valid_model() for item in load(text, **files)]
    return {model.scenario: model for model in models}


def problems(text: str, **files: str) -> str:
    return "\n".join(map(str, merge_problems(load(text, **files))))


def test_each_row_of_a_csv_is_a_scenario_with_its_values() -> None:
    scenarios = cells(f"cases: cases.csv\n{REFUND}", cases__csv=CASES)
    assert [(name, cell.user_message) for name, cell in scenarios.items()] == [
        ("refund[late]", "Refund order A-1001 for Ann."),
        ("refund[early]", "Refund order A-1002 for Bob."),
    ]
    assert scenarios["refund[early]"].assertions[0].fields["value"] == "A-1002"


def test_the_matrix_sets_fields_and_names_its_values_as_pytest_does() -> None:
    write("prompts/short.md", "Be brief with {{ customer }}.")
    write("prompts/long.md", "Explain.")
    scenarios = cells(
        "matrix:\n"
        "  model: [openai/gpt-5.4-mini, anthropic/claude-haiku-4-5]\n"
        "  system_prompt: [!file prompts/short.md, !file prompts/long.md]\n"
        "exclude: [{model: anthropic/claude-haiku-4-5, system_prompt: long}]\n"
        "cases: cases.csv\n" + REFUND.replace("adapter: openai\nmodel: gpt-5.4-mini\n", ""),
        cases__csv=CASES,
    )
    assert list(scenarios) == [
        "refund[late-gpt-5.4-mini-short]",
        "refund[late-gpt-5.4-mini-long]",
        "refund[late-claude-haiku-4-5-short]",
        "refund[early-gpt-5.4-mini-short]",
        "refund[early-gpt-5.4-mini-long]",
        "refund[early-claude-haiku-4-5-short]",
    ]
    cell = scenarios["refund[late-claude-haiku-4-5-short]"]
    assert (cell.adapter, cell.model) == ("anthropic", "claude-haiku-4-5")
    assert cell.system_prompt == "Be brief with Ann."
    assert cell.cell is not None
    assert dict(cell.cell.parameters) == {"case": "late", "model": "claude-haiku-4-5", "system_prompt": "short"}


@pytest.mark.parametrize(
    "matrix, names",
    [
        ("temperature: [0, 0.5]", ["0", "0.5"]),
        ("system_prompt: {polite: Be polite., rude: Be rude.}", ["polite", "rude"]),
        ("output_schema: [{type: object}, null]", ["output_schema0", "null"]),
        (f"system_prompt: [{'x' * 50}, y]", ["system_prompt0", "y"]),
        ("model: [a/gpt, b/gpt]", ["a/gpt", "b/gpt"]),
        ("adapter_options.max_tokens: [100, 200]", ["100", "200"]),
    ],
)
def test_a_value_of_the_matrix_is_named_by_its_key_its_text_or_its_number(matrix: str, names: list[str]) -> None:
    text = REFUND.replace("{{ order }}", "A").replace("{{ customer }}", "B")
    if "model:" in matrix:
        text = text.replace("model: gpt-5.4-mini\n", "")
    assert list(cells(f"matrix: {{{matrix}}}\n{text}")) == [f"refund[{name}]" for name in names]


def test_a_name_in_the_matrix_that_is_no_field_is_a_variable() -> None:
    scenarios = cells(
        "scenario: tone\nadapter: openai\nmodel: m\nmatrix: {tone: [kind, curt]}\n"
        'user_message: "Be {{ tone }}."\n' + ONE_ASSERTION
    )
    assert [cell.user_message for cell in scenarios.values()] == ["Be kind.", "Be curt."]


def test_a_value_of_the_matrix_may_set_several_fields_at_once() -> None:
    text = "scenario: s\nuser_message: hi\n" + ONE_ASSERTION
    variants = "matrix:\n  variant:\n    fast: {model: openai/m, temperature: 0}\n    slow: {model: anthropic/n}\n"
    scenarios = cells(variants + text)
    assert [(cell.adapter, cell.model, cell.temperature) for cell in scenarios.values()] == [
        ("openai", "m", 0),
        ("anthropic", "n", None),
    ]
    assert problems(variants + "  temperature: [0, 1]\n" + text) == snapshot(
        "s.yaml:5:3: matrix.temperature: temperature is also set by variant"
    )


def test_a_dotted_name_sets_a_field_inside_another() -> None:
    text = REFUND.replace("{{ order }}", "A").replace("{{ customer }}", "B") + "adapter_options: {max_tokens: 5}\n"
    scenarios = cells("matrix: {adapter_options.base_url: [http://127.0.0.1:1, http://127.0.0.1:2]}\n" + text)
    assert [cell.adapter_options for cell in scenarios.values()] == [
        {"max_tokens": 5, "base_url": "http://127.0.0.1:1"},
        {"max_tokens": 5, "base_url": "http://127.0.0.1:2"},
    ]


def test_a_value_keeps_its_type_where_it_is_the_whole_field_and_a_csv_has_only_text() -> None:
    text = (
        (
            "scenario: typed\nadapter: openai\nmodel: m\ncases: {cases}\nuser_message: '{{ n }} {{ flag }} {{ list }}'\n"
            "runs: '{{ n }}'\nassertions: [{{type: jmespath, path: x, operator: eq, value: '{{ list }}'}}]\n"
        )
        .replace("{{type", "{type")
        .replace("}}]", "}]")
        .replace("{cases}", "c.jsonl")
    )
    rows = json.dumps({"id": "a", "n": 3, "flag": True, "list": [1, None]})
    [cell] = cells(text, c__jsonl=f"\n{rows}\n").values()
    assert (cell.runs, cell.user_message) == (3, "3 true [1,null]")
    assert cell.assertions[0].fields["value"] == [1, None]
    assert problems(text.replace("c.jsonl", "c.csv"), c__csv="id,n,flag,list\na,3,true,x\n") == snapshot(
        "c.csv:2:3: runs: must be a whole number, not text; a value of a CSV is text, use .jsonl or a list for other types"
    )


def test_a_case_may_have_assertions_of_its_own() -> None:
    inline = (
        "cases:\n"
        "  - {id: a, order: A, customer: B}\n"
        "  - {id: b, order: A, customer: B, assertions: [{type: cost_limit, max_usd: 1}]}\n"
    )
    scenarios = cells(inline + REFUND)
    assert [[item.type for item in cell.assertions] for cell in scenarios.values()] == [
        ["jmespath"],
        ["jmespath", "cost_limit"],
    ]
    broken = inline.replace("type: cost_limit", "weight: -1, type: cost_limit")
    assert problems(broken + REFUND) == snapshot("s.yaml:3:50: assertions[1].weight: must be at least 0 (in refund[b])")


def test_values_are_never_templates_and_a_case_cannot_name_a_variable_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [cell] = cells(f"cases: [{{id: a, order: '{{{{ customer }}}}', customer: $HOME}}]\n{REFUND}").values()
    assert cell.user_message == "Refund order {{ customer }} for $HOME."
    options = 'adapter_options: {base_url: "http://127.0.0.1/${{ customer }}"}\n'
    for value in ("{HOME}", "x${HOME}"):
        assert "would name an environment variable" in problems(
            f"cases: [{{id: a, order: A, customer: '{value}'}}]\n{REFUND}{options}"
        )


@pytest.mark.parametrize(
    "field",
    [
        'adapter: "{{ order }}"',
        "adapter: command\nadapter_options: {command: ['{{ order }}', x]}",
        "adapter: command\nadapter_options: {command: '{{ order }} x'}",
    ],
)
def test_a_column_cannot_choose_the_code_that_runs(field: str) -> None:
    text = REFUND.replace("adapter: openai", field)
    assert "would choose the code that runs" in problems(f"cases: cases.csv\n{text}", cases__csv=CASES)


@pytest.mark.parametrize(
    "assertion",
    [
        "{type: custom, function: '{{ order }}'}",
        "{type: '{{ order }}'}",
        "{type: not, assertion: {type: custom, function: '{{ order }}'}}",
        "{type: any_of, assertions: [{type: all_of, assertions: [{type: custom, function: '{{ order }}'}]}]}",
    ],
)
def test_a_column_cannot_choose_the_code_of_an_assertion(assertion: str) -> None:
    text = f"cases: cases.csv\n{REFUND}  - {assertion}\n"
    assert "would choose the code that runs" in problems(text, cases__csv=CASES)


@pytest.mark.parametrize("nested", [False, True])
def test_a_file_of_cases_cannot_name_code(nested: bool) -> None:
    code: dict[str, Any] = {"type": "custom", "function": "os.system"}
    assertion = {"type": "not", "assertion": {"type": "all_of", "assertions": [code]}} if nested else code
    row = {"order": "A", "customer": "B", "assertions": [assertion]}
    assert problems(f"cases: c.jsonl\n{REFUND}", c__jsonl=json.dumps(row)) == snapshot(
        "c.jsonl:1:1: cases: a file of cases cannot name code: put the custom assertion into the scenario"
    )


def test_everything_wrong_with_cases_and_matrix_has_its_file_line_and_column() -> None:
    text = """\
scenario: bad
cases:
  - {id: late, order: A-1, unused: 3, n: 7}
  - {id: late, order: A-2, n: 8}
  - {order: A-3}
matrix:
  modle: [a, b]
  temperature: [0, 0.5, 0.5]
private: [ordr, order]
adapter: openai
user_message: "{{ oder }} {{ n | upper }}"
runs: "{{ n }}"
seed: "{{ order }}"
"""
    assert problems(text + ONE_ASSERTION) == snapshot("""\
s.yaml:3:28: cases: the column "unused" is never used as {{ unused }}; begin its name with _ if that is intended
s.yaml:4:5: cases[1]: the id "late" occurs twice; the first is in line 3
s.yaml:5:5: cases[2]: the case "case3" has no "n", which runs uses
s.yaml:7:3: matrix.modle: is no field, and is never used as {{ modle }}; did you mean "model"?
s.yaml:8:25: matrix.temperature[2]: occurs twice
s.yaml:9:11: private[0]: there is no column "ordr"; did you mean "order"?
s.yaml:11:1: user_message: there is no variable "oder"; did you mean "order"?
s.yaml:11:1: user_message: there is no variable "n | upper"; name a column of the cases, or of the matrix\
""")


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("c.csv", "id,order,customer,extra\na,A,B,C\n", 'c.csv:1:19: cases: the column "extra" is never used'),
        (
            "c.csv",
            'id,order,"cus\ntomer",customer\na,A,B,C\n',
            'c.csv:1:10: cases: the column "cus; tomer" is never used',
        ),
        ("c.csv", "id,order,customer\na,A\n", "c.csv:2:1: cases: has 2 values, and the first line names 3 columns"),
        ("c.csv", "id,order,order\n", 'c.csv:1:10: cases: two columns are named "order"'),
        ("c.csv", "id,,customer\n", "c.csv:1:4: cases: this column has no name"),
        ("c.csv", 'id,order,customer\na,"A,B\n', "c.csv:2:1: cases: is not CSV: unexpected end of data"),
        ("c.csv", "id,order,customer,assertions\n", "c.csv:1:19: cases: a value of a CSV is text"),
        ("c.csv", "", "has no cases"),
        ("c.csv", "id,order,customer\n\n\na[b],A,B\n", "c.csv:4:1: cases: the id of a case must have printable"),
        ("c.csv", b"id,order,customer\na,A,\xff\n", "c.csv:2:5: cases: is not UTF-8"),
        ("c.jsonl", '{"order": "A"}\n{"order": \n', "c.jsonl:2:11: cases: is not JSON; each line is an object"),
        ("c.jsonl", "[1]\n", "c.jsonl:1:1: cases: is not an object"),
        ("c.jsonl", '{"id": true}\n', "c.jsonl:1:1: cases: the id of a case must be text or a whole number"),
        ("c.jsonl", '{"order": "\\ud800", "customer": "B"}\n', "c.jsonl:1:1: cases: holds half of a surrogate pair"),
        ("c.jsonl", '{"order": "A", "x": 1, "customer": "B"}\n', 'c.jsonl:1:16: cases: the column "x" is never used'),
        ("../c.csv", CASES, "s.yaml:1:1: cases: ../c.csv: is outside the project"),
        ("c.txt", CASES, "s.yaml:1:1: cases: c.txt: only files that end in .csv, .jsonl can be read as cases"),
    ],
)
def test_a_file_of_cases_that_cannot_be_used_says_where(name: str, content: str | bytes, message: str) -> None:
    if not name.startswith(".."):
        write(name, content)
    assert message in problems(f"cases: {name}\n{REFUND}")


@pytest.mark.parametrize(
    "exclude, message",
    [
        ("[{temperature: 3}]", "exclude[0].temperature: no cell has this value or id"),
        (
            "[{temprature: 0}]",
            'exclude[0].temprature: is neither in the matrix nor a column; did you mean "temperature"?',
        ),
        ("[{case: late, order: A-1002}]", "exclude[0]: leaves out nothing: no cell has all of these"),
        ("[{temperature: 0}, {temperature: 1}]", "exclude: leaves out every cell"),
        ("[{}]", "exclude[0]: must not be empty"),
    ],
)
def test_an_exclusion_that_does_not_do_what_it_seems_to_is_refused(exclude: str, message: str) -> None:
    text = f"cases: cases.csv\nmatrix: {{temperature: [0, 1]}}\nexclude: {exclude}\n{REFUND}"
    assert message in problems(text, cases__csv=CASES)


def test_cells_are_excluded_by_value_by_id_by_case_and_by_column() -> None:
    text = f"cases: cases.csv\nmatrix: {{temperature: [0, 1, 2]}}\nexclude: EXCLUDE\n{REFUND}"
    exclude = "[{temperature: 1}, {temperature: '2', case: late}, {order: A-1002, temperature: 0}]"
    assert list(cells(text.replace("EXCLUDE", exclude), cases__csv=CASES)) == ["refund[late-0]", "refund[early-2]"]


def test_a_field_that_both_the_file_and_the_matrix_set_is_refused() -> None:
    text = REFUND.replace("{{ order }}", "A").replace("{{ customer }}", "B")
    assert problems(f"matrix: {{model: [a, b]}}\n{text}") == snapshot(
        "s.yaml:1:10: matrix.model: model is also set in line 4"
    )


def test_a_misspelt_field_of_a_suite_is_suggested_and_brackets_are_for_cells() -> None:
    assert 'case: no such field; did you mean "cases"?' in problems(f"case: c.csv\n{REFUND}")
    assert "scenario: must begin with a letter" in problems(REFUND.replace("refund", "refund[late]"))
    assert "exclude: needs cases or a matrix" in problems(f"exclude: []\n{REFUND}")


def test_braces_are_plain_text_in_a_file_without_cases_and_matrix() -> None:
    [cell] = cells(REFUND).values()
    assert cell.user_message == "Refund order {{ order }} for {{ customer }}."


def test_a_private_value_that_is_too_short_to_be_found_is_refused() -> None:
    text = f"cases: cases.csv\nprivate: [customer]\n{REFUND}"
    assert len(cells(text, cases__csv=CASES)) == 2
    assert problems(text, cases__csv="id,order,customer\na,A,42\n") == snapshot(
        'cases.csv:2:1: cases: the private value "customer" is too short to be found in other texts; leave the column out'
    )


def test_more_cells_than_can_be_run_are_refused_before_they_are_made() -> None:
    axes = ", ".join(f"v{axis}: {list(range(60))}" for axis in range(3))
    text = f"matrix: {{{axes}}}\n" + REFUND.replace("{{ order }}", "{{ v0 }}{{ v1 }}").replace("customer", "v2")
    assert "has 216,000 cells; at most 100,000 are possible" in problems(text)


def test_texts_that_would_fill_the_memory_are_refused() -> None:
    write("long.md", "x" * 900_000 + "{{ order }}")
    rows = "id,order,customer\n" + "".join(f"{number},A,B\n" for number in range(300))
    text = f"cases: cases.csv\nsystem_prompt: !file long.md\n{REFUND}"
    assert "is too large once its variables are filled" in problems(text, cases__csv=rows)


_VALUES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)


@given(values=st.lists(st.fixed_dictionaries({"order": _VALUES, "customer": _VALUES}), min_size=1, max_size=5))
def test_whatever_a_case_holds_it_is_inserted_as_it_is(values: list[Mapping[str, Any]]) -> None:
    rows = "\n".join(json.dumps(value) for value in values)
    scenarios = cells(f"cases: c.jsonl\n{REFUND}", c__jsonl=rows)
    assert [cell.user_message for cell in scenarios.values()] == [
        f"Refund order {value['order']} for {value['customer']}." for value in values
    ]
    assert [cell.assertions[0].fields["value"] for cell in scenarios.values()] == [value["order"] for value in values]
