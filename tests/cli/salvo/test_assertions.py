"""Assertions of every kind in a scenario file: run, recorded, replayed, and listed before a stranger's are run."""

import json
from typing import Any

import pytest

from tests.support.project import UserProject
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say, Use, UseTools, by_turn
from tests.support.wires import OPENAI_KEY

GREET = """
    x-judge: &judge
      type: llm_judge
      model: openai/gpt-5.4-mini
      votes: 3
    x-unused: [anything, at, all]

    scenario: greet
    adapter: openai
    model: gpt-5.4-mini
    user_message: Say hello.
    runs: 2
    threshold: 0.5
    tools:
      - {name: delete_account, response: gone}
    assertions:
      - type: must_not_call
        tools: [delete_account]
      - type: json_schema
        schema: {type: object, required: [greeting], properties: {greeting: {type: string}}}
      - type: similarity
        path: final_output.greeting
        expected: Hello there!
      - type: any_of
        name: friendly or short
        assertions:
          - <<: *judge
            rubric: It is friendly.
          - {type: jmespath, path: "length(final_output.greeting)", operator: lt, value: 5}
      - <<: *judge
        name: warmth
        rubric: How warm is it?
        scale: {1: cold, 5: warm}
        min_grade: 4
      - type: not
        assertion: {<<: *judge, rubric: It is rude.}
"""


def answers(request: ProviderRequest) -> Answer:
    """Answer as the agent, and as a judge who calls it friendly, not rude, and warm to the degree of 3."""
    prompt = json.dumps(request.body)
    if "How warm is it?" in prompt:
        return Say('{"grade": 3, "reason": "lukewarm"}')
    if "It is rude." in prompt:
        return Say('{"passed": false, "reason": "it is not"}')
    if "It is friendly." in prompt:
        return Say('{"passed": true, "reason": "it is"}')
    return Say('{"greeting": "Hello there."}')


def results(project: UserProject) -> list[list[dict[str, Any]]]:
    return [json.loads(file.read_text())["eval_results"] for file in project.runs()]


@pytest.fixture
def greet(project: UserProject) -> UserProject:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write("scenarios/greet.yaml", GREET)
    return project


def test_every_kind_of_assertion_is_judged_and_replayed_without_a_provider(greet: UserProject) -> None:
    with LoopbackProvider(answers) as provider:
        greet.reach(provider)
        ran = greet.salvo("run", "--record")
    assert ran.exit_code == 0, ran.output
    assert len(provider.requests) == 2 * (1 + 3 + 3 + 3)
    for run in results(greet):
        assert [item["passed"] for item in run] == [True, True, True, True, False, True]
        assert run[4]["score"] == pytest.approx(2 / 3)
        assert run[4]["actual"] == {"passed": 0, "failed": 3, "no_vote": 0, "grade": 3, "grades": [3, 3, 3]}
    assert 'The assertion "warmth" failed in all 2 runs; 2 of them passed nevertheless.' in ran.stdout
    assert "x-judge" not in greet.everything_stored()
    replayed = greet.salvo("replay", "latest")  # the provider is gone
    assert replayed.exit_code == 0, replayed.output
    assert "Identical" in replayed.stdout


def test_every_kind_of_assertion_fails_for_what_it_forbids(project: UserProject) -> None:
    project.write(
        "scenarios/book_flight.yaml",
        """
        x-says: &hello {type: text, contains_all: [Hello]}
        x-other: &other {type: text, contains_all: [Goodbye]}
        scenario: rude
        adapter: openai
        model: gpt-5.4-mini
        user_message: Say hello.
        runs: 1
        tools: [{name: delete_account, response: gone}]
        assertions:
          - {type: must_not_call, tools: [delete_account]}
          - {type: json_schema, schema: {type: object, required: [farewell]}}
          - {type: similarity, path: final_output.greeting, expected: See you soon}
          - {type: all_of, assertions: [*hello, *other]}
          - {type: any_of, assertions: [*other, *other]}
          - {type: not, assertion: *hello}
          - {type: all_of, name: control, assertions: [*hello, {type: not, assertion: *other}]}
        """,
    )
    with LoopbackProvider(by_turn(UseTools(Use("delete_account", {})), Say('{"greeting": "Hello"}'))) as provider:
        project.reach(provider)
        ran = project.salvo("run")
    assert ran.exit_code == 1, ran.output
    [run] = results(project)
    assert [item["passed"] for item in run] == [False] * 6 + [True]
    assert run[0]["message"] == "call 1 is delete_account, which must not be called"


def test_grades_can_be_judged_again(greet: UserProject) -> None:
    with LoopbackProvider(answers) as provider:
        greet.reach(provider)
        greet.salvo("run")
        judged = greet.salvo("judge", "latest", "--times", "2", "--json")
    assert judged.exit_code == 0, judged.output
    document = json.loads(judged.stdout)
    assert document["judgings"] == 4
    assert len(document["assertions"]) == 3  # one by itself, and two inside other assertions


def test_a_judge_moved_into_another_assertion_keeps_its_recorded_votes(greet: UserProject) -> None:
    with LoopbackProvider(answers) as provider:
        greet.reach(provider)
        greet.salvo("run", "--record", "-n", "1")
    scenario = GREET.replace(
        "      - type: not\n        assertion: {<<: *judge, rubric: It is rude.}",
        "      - {<<: *judge, name: rude, rubric: It is rude.}",
    )
    greet.write("scenarios/greet.yaml", scenario)
    again = greet.salvo("replay", "latest", "--re-eval")
    assert "rude: new, failed." in again.stdout


def test_a_judge_out_of_reach_inside_another_assertion_is_an_error_not_a_failure(greet: UserProject) -> None:
    def without_judge(request: ProviderRequest) -> Answer:
        return Say("I am not a judge.") if "It is rude." in json.dumps(request.body) else answers(request)

    with LoopbackProvider(without_judge) as provider:
        greet.reach(provider)
        ran = greet.salvo("run", "-n", "1")
    assert ran.exit_code == 3
    [run] = results(greet)
    assert (run[5]["passed"], run[5]["cause"]) == (None, "judge")
    assert "1 run could not be judged" in ran.stdout


def test_where_calls_go_and_what_code_runs_is_known_of_assertions_inside_others(project: UserProject) -> None:
    project.write("checks.py", "def polite(scenario, assertion, result):\n    return True\n")
    project.write(
        "scenarios/nested.yaml",
        """
        scenario: nested
        adapter: function:agent.answer
        user_message: Hi
        assertions:
          - type: all_of
            assertions:
              - type: not
                assertion: {type: custom, function: checks.polite}
              - {type: llm_judge, model: anthropic/claude-haiku-4-5, rubric: It is polite.}
        """,
    )
    project.write("agent.py", "def answer(request):\n    return 'hi'\n")
    listed = project.salvo("validate", "--trust", "scenarios/nested.yaml")
    assert "assertions.0.assertions.0.assertion: Python checks.polite -> checks.py:1 (in the project)" in listed.stdout
    project.environ = {"ANTHROPIC_API_KEY": "sk-ant-test-000000000000"}
    assert "Calls go to https://api.anthropic.com" in project.salvo("validate", "scenarios/nested.yaml").stdout


def test_x_fields_hold_anchors_and_nothing_else(greet: UserProject) -> None:
    assert greet.salvo("validate").exit_code == 0
    greet.write("scenarios/greet.yaml", GREET.replace("x-unused", "unused"))
    refused = greet.salvo("validate")
    assert refused.exit_code == 2
    assert "unused: no such field" in refused.stdout


def test_anchors_that_multiply_are_refused(greet: UserProject) -> None:
    levels = "\n".join(f"x-{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 9))
    greet.write("scenarios/greet.yaml", "scenario: bomb\nx-0: &l0 [lol, lol, lol]\n" + levels + "\n")
    refused = greet.salvo("validate")
    assert refused.exit_code == 2
    assert "is too large once its aliases and includes are expanded" in refused.stdout


def test_the_schema_for_editors_knows_x_fields_and_assertions_inside_others(greet: UserProject) -> None:
    schema = json.loads(greet.salvo("schema").stdout)
    assert "^x-" in schema["patternProperties"]
    types = {
        item["properties"]["type"]["const"]: item["properties"]
        for item in schema["properties"]["assertions"]["items"]["oneOf"]
    }
    assert types["all_of"]["assertions"]["items"] == {"$ref": "#/properties/assertions/items"}
    assert types["not"]["assertion"]["$ref"] == "#/properties/assertions/items"
    assert "schema" in types["json_schema"]


NESTED_JUDGE = """
    scenario: nested
    adapter: function:agent.answer
    user_message: Hi
    assertions:
      - type: not
        assertion: {{type: llm_judge, rubric: It is rude., {fields}}}
"""


@pytest.fixture
def nested(project: UserProject) -> UserProject:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write("agent.py", "def answer(request):\n    return 'hi'\n")
    return project


def test_a_judge_inside_another_assertion_without_a_key_is_refused_before_anything_runs(nested: UserProject) -> None:
    nested.write("scenarios/nested.yaml", NESTED_JUDGE.format(fields="model: anthropic/claude-haiku-4-5"))
    refused = nested.salvo("run")
    assert refused.exit_code != 0
    assert "ANTHROPIC_API_KEY" in refused.stderr
    assert nested.runs() == []


def test_a_model_that_is_not_known_is_named_inside_another_assertion_too(nested: UserProject) -> None:
    nested.write("scenarios/nested.yaml", NESTED_JUDGE.format(fields="model: openai/gtp-5.4-mini"))
    shown = nested.salvo("validate")
    assert "assertions[0].assertion.model" in shown.output
    assert "gpt-5.4-mini" in shown.output


def test_a_judge_inside_another_assertion_is_asked_at_its_own_server(nested: UserProject) -> None:
    with LoopbackProvider(answers) as provider:
        fields = f"model: openai/gpt-5.4-mini, base_url: '{provider.url}/v1', api_key: {OPENAI_KEY}"
        nested.write("scenarios/nested.yaml", NESTED_JUDGE.format(fields=fields))
        ran = nested.salvo("run")
    assert ran.exit_code == 0, ran.output
    assert len(provider.requests) == 3


def test_an_empty_value_exists_and_only_not_empty_fails_for_it(project: UserProject) -> None:
    project.write(
        "scenarios/book_flight.yaml",
        """
        scenario: empty
        adapter: function:agent.answer
        user_message: Hi
        runs: 1
        assertions:
          - {type: jmespath, name: text exists, path: final_output.text, operator: exists, value: true}
          - {type: jmespath, name: text is said, path: final_output.text, operator: not_empty}
          - {type: jmespath, name: nothing, path: final_output.nothing, operator: exists, value: true}
        """,
    )
    project.write("agent.py", "def answer(request):\n    return {'text': '', 'nothing': None}\n")
    ran = project.salvo("run", "--json")
    [run] = [result["eval_results"] for result in json.loads(ran.stdout)["batches"][0]["results"]]
    assert {item["name"]: item["passed"] for item in run} == {
        "text exists": True,
        "text is said": False,
        "nothing": False,
    }
    assert run[1]["message"] == 'expected final_output.text not to be empty, got ""'
    assert "missing" not in run[2]["message"]
