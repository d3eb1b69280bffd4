"""`salvo import promptfoo`: configurations written after promptfoo's documentation become scenarios that are valid."""

import json
from typing import Any

import pytest
import yaml
from inline_snapshot import snapshot

from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, Say

CONFIG = """
description: Support answers
prompts:
  - 'Answer {{customer}}: {{question}}'
  - file://prompts/chat.json
providers:
  - openai:chat:gpt-5.4-mini
  - id: anthropic:messages:claude-haiku-4-5
    label: haiku
    config:
      temperature: 0
      max_tokens: 200
defaultTest:
  vars: {customer: Ann}
  assert:
    - {type: latency, threshold: 5000}
tests:
  - description: refund
    vars: {question: "May I return it?", expected: refund}
    assert:
      - {type: icontains, value: '{{expected}}', metric: mentions it}
  - vars: {question: [a, b]}
    threshold: 0.5
    providers: [haiku]
    assert:
      - {type: contains-any, value: [x, y]}
      - {type: not-regex, value: '^[0-9]+$', weight: 2}
evaluateOptions: {repeat: 2}
"""
CHAT = '[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "{{question}}"}]'


def imported(project: UserProject, name: str = "Support_answers") -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((project.folder / f"scenarios/{name}.yaml").read_text())
    return document


@pytest.fixture
def config(project: UserProject) -> UserProject:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write("prompts/chat.json", CHAT)
    project.write("promptfooconfig.yaml", CONFIG)
    return project


def test_prompts_and_providers_become_a_matrix_and_tests_become_cases(config: UserProject) -> None:
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml")
    assert ran.exit_code == 0, ran.output
    document = imported(config)
    cases = document.pop("cases")
    assert document == snapshot(
        {
            "scenario": "Support_answers",
            "description": "Support answers",
            "matrix": {
                "provider": {
                    "gpt-5.4-mini": {"model": "openai/gpt-5.4-mini"},
                    "haiku": {
                        "model": "anthropic/claude-haiku-4-5",
                        "temperature": 0,
                        "adapter_options": {"max_tokens": 200},
                    },
                },
                "prompt": {
                    "prompt0": {"user_message": "Answer {{customer}}: {{question}}"},
                    "chat": {"system_prompt": "Be kind.", "user_message": "{{question}}"},
                },
            },
            "exclude": [{"_providers": "haiku", "provider": "gpt-5.4-mini"}],
            "runs": 2,
            "threshold": "{{ _threshold }}",
        }
    )
    assert cases == snapshot(
        [
            {
                "id": "refund",
                "customer": "Ann",
                "question": "May I return it?",
                "_expected": "refund",
                "_threshold": 1.0,
                "assertions": [
                    {"type": "latency_limit", "max_seconds": 5.0},
                    {"type": "text", "contains_all": ["refund"], "ignore_case": True, "name": "mentions it"},
                ],
            },
            {
                "id": "test2",
                "customer": "Ann",
                "question": "a",
                "_providers": "haiku",
                "_threshold": 0.5,
                "assertions": [
                    {"type": "latency_limit", "max_seconds": 5.0},
                    {"type": "text", "contains_any": ["x", "y"]},
                    {
                        "type": "jmespath",
                        "path": "final_text",
                        "operator": "regex",
                        "value": "(?a)\\A(?![\\s\\S]*(?:^[0-9]+\\Z))",
                        "weight": 2,
                    },
                ],
            },
            {
                "id": "test3",
                "customer": "Ann",
                "question": "b",
                "_providers": "haiku",
                "_threshold": 0.5,
                "assertions": [
                    {"type": "latency_limit", "max_seconds": 5.0},
                    {"type": "text", "contains_any": ["x", "y"]},
                    {
                        "type": "jmespath",
                        "path": "final_text",
                        "operator": "regex",
                        "value": "(?a)\\A(?![\\s\\S]*(?:^[0-9]+\\Z))",
                        "weight": 2,
                    },
                ],
            },
        ]
    )
    validated = config.salvo("validate")
    assert "1 scenario with 8 cells is valid." in validated.output


def test_what_was_imported_runs(config: UserProject) -> None:
    config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "answers")
    with LoopbackProvider(Say("You get a REFUND, and x.")) as provider:
        config.reach(provider)
        ran = config.salvo("run", "--json")
    assert ran.exit_code == 0, ran.output
    assert len(json.loads(ran.stdout)["batches"]) == 8
    assert len(provider.requests) == 16


def test_everything_without_a_counterpart_is_listed_with_its_line_and_the_rest_is_written(config: UserProject) -> None:
    config.write(
        "promptfooconfig.yaml",
        """
        prompts:
          - 'Say {{ word }}'
          - 'Say {{ word | upper }}'
          - file://generate.py
          - file://../../outside.txt
        providers:
          - openai:gpt-5.4-mini
          - bedrock:claude
          - id: openai:chat:gpt-5.4
            config: {apiKey: sk-proj-secret-0123456789, top_p: 0.1}
        redteam: {plugins: [pii]}
        tests:
          - vars: {word: hello}
            assert:
              - {type: contains, value: hello}
              - type: javascript
                value: JSON.parse(output).items.length > 3
              - {type: similar, value: hi, threshold: 0.8}
              - {type: llm-rubric, value: kind, threshold: 0.5}
              - {type: contains, value: 'file://expected.txt'}
              - {type: contains, value: '{{ absent }}'}
              - {type: regex, value: '(unclosed'}
              - {type: assert-set, threshold: 0.5, assert: [{type: contains, value: a}]}
            options: {transform: output.trim()}
            assertScoringFunction: file://score.js
        """,
    )
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "partly")
    assert ran.exit_code == 3
    assert ran.stdout == snapshot("""\
  created  scenarios/partly.yaml
Left out, because Salvo has no counterpart (16 parts):
  promptfooconfig.yaml:3: prompts[1]: the prompt was left out: it uses a template language; Salvo has {{ name }} only
  promptfooconfig.yaml:4: prompts[2]: generate.py was left out: only files that end in .txt, .md, .json can be imported
  promptfooconfig.yaml:5: prompts[3]: ../../outside.txt was left out: is outside the project
  promptfooconfig.yaml:8: providers[1]: the provider bedrock:claude was left out: Salvo asks models of openai and anthropic
  promptfooconfig.yaml:10: providers[2].config.apiKey: a key in a file is not copied; set it in the environment
  promptfooconfig.yaml:10: providers[2].config.top_p: top_p of a provider has no counterpart
  promptfooconfig.yaml:11: redteam: redteam has no counterpart
  promptfooconfig.yaml:16: tests[0].assert[1]: javascript was left out: code is not imported, only a simple condition on the output in one line
  promptfooconfig.yaml:18: tests[0].assert[2]: similar was left out: Salvo has no such assertion
  promptfooconfig.yaml:19: tests[0].assert[3]: llm-rubric was left out: a judge passes or fails; its threshold has no counterpart
  promptfooconfig.yaml:20: tests[0].assert[4]: contains was left out: its value is in the file expected.txt
  promptfooconfig.yaml:21: tests[0].assert[5]: contains was left out: {{ absent }} is not the name of a variable of the test
  promptfooconfig.yaml:22: tests[0].assert[6]: regex was left out: Python cannot read its regular expression ("(?a)(unclosed" is not a regular expression: missing ), unterminated subpattern at position 4)
  promptfooconfig.yaml:23: tests[0].assert[7]: assert-set was left out: a threshold for a part of the assertions has no counterpart
  promptfooconfig.yaml:24: tests[0].options.transform: the option transform has no counterpart
  promptfooconfig.yaml:25: tests[0].assertScoringFunction: assertScoringFunction of a test has no counterpart
""")
    document = imported(config, "partly")
    assert [case["assertions"] for case in document["cases"]] == [
        [{"type": "jmespath", "path": "final_text", "operator": "contains", "value": "hello"}]
    ]
    assert "sk-proj-secret" not in config.everything_stored() + json.dumps(document) + ran.output
    assert config.salvo("validate").exit_code == 0


def test_tests_of_a_csv_file_have_their_expectations_in_a_column(config: UserProject) -> None:
    config.write(
        "tests.csv",
        "question,__expected,__expected2,__description,__threshold\n"
        'one,Paris,"contains-all: a, b",first,\n'
        "two,icontains: par,latency: 900,,0.5\n"
        "three,grade: is kind,a: b,,\n",
    )
    config.write(
        "promptfooconfig.yaml",
        "prompts: ['{{question}}']\nproviders: openai:gpt-5.4-mini\ntests: file://tests.csv\n",
    )
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "rows")
    assert ran.exit_code == 0, ran.output
    assert imported(config, "rows")["cases"] == snapshot(
        [
            {
                "id": "first",
                "question": "one",
                "_threshold": 1.0,
                "assertions": [
                    {"type": "jmespath", "path": "final_text", "operator": "eq", "value": "Paris"},
                    {"type": "text", "contains_all": ["a", "b"]},
                ],
            },
            {
                "id": "test2",
                "question": "two",
                "_threshold": 0.5,
                "assertions": [
                    {"type": "text", "contains_all": ["par"], "ignore_case": True},
                    {"type": "latency_limit", "max_seconds": 0.9},
                ],
            },
            {
                "id": "test3",
                "question": "three",
                "_threshold": 1.0,
                "assertions": [
                    {"type": "llm_judge", "rubric": "is kind"},
                    {"type": "jmespath", "path": "final_text", "operator": "eq", "value": "a: b"},
                ],
            },
        ]
    )


def test_an_expectation_of_a_csv_file_may_have_no_value_and_one_without_a_counterpart_is_left_out(
    config: UserProject,
) -> None:
    config.write(
        "tests.csv",
        "question,__expected\none,is-json\ntwo,latency(900)\nthree,icontains:par\nfour,is-xml\n"
        "five,similar(0.8): Paris\nsix,similar:dot: Paris\nseven,a city: Paris\n",
    )
    config.write(
        "promptfooconfig.yaml",
        "prompts: ['{{question}}']\nproviders: openai:gpt-5.4-mini\ntests: file://tests.csv\n",
    )
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "rows")
    assert [line.partition(": tests")[2] for line in ran.stdout.splitlines() if "no such assertion" in line] == [
        f".assert[0]: {name} was left out: Salvo has no such assertion" for name in ("is-xml", "similar", "similar:dot")
    ]
    first = [case["assertions"][0] for case in imported(config, "rows")["cases"]]
    assert [item["type"] for item in first[:3]] == ["jmespath", "latency_limit", "text"]
    assert first[1]["max_seconds"] == 0.9
    assert first[-1]["value"] == "a city: Paris"


def test_a_prompt_that_names_a_file_or_a_pattern_is_read_from_it(config: UserProject) -> None:
    config.write("prompts/one.txt", "One {{question}}")
    config.write("prompts/two.txt", "Two {{question}}")
    config.write(
        "promptfooconfig.yaml",
        "prompts: [prompts/*.txt, 'file://prompts/ch*.json', prompts/none.txt, 'Is 3/4 a file.txt? {{question}}']\n"
        "providers: openai:gpt-5.4-mini\ntests: [{vars: {question: Why}}]\n",
    )
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "files")
    assert ran.exit_code == 3, ran.output
    assert "promptfooconfig.yaml:1: prompts[2]: prompts/none.txt was left out: " in ran.stdout
    assert list(imported(config, "files")["matrix"]["prompt"].values()) == [
        {"user_message": "One {{question}}"},
        {"user_message": "Two {{question}}"},
        {"system_prompt": "Be kind.", "user_message": "{{question}}"},
        {"user_message": "Is 3/4 a file.txt? {{question}}"},
    ]
    assert config.salvo("validate").exit_code == 0


def test_defaults_and_tests_may_be_in_files_of_yaml(config: UserProject) -> None:
    config.write("default.yaml", "assert: [{type: contains, value: ok}]\n")
    config.write("tests/a.yaml", "- {description: a, vars: {question: A}}\n- {description: b, vars: {question: B}}\n")
    config.write("tests/b.yml", "{description: c, vars: {question: C}}\n")
    config.write("tests/broken.yml", "{description: [c\n")
    config.write(
        "promptfooconfig.yaml",
        "prompts: ['{{question}}']\nproviders: openai:gpt-5.4-mini\ndefaultTest: file://default.yaml\n"
        "tests: [file://tests/*.y*ml]\n",
    )
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "yaml")
    assert "tests/broken.yml was left out: " in ran.stdout
    cases = imported(config, "yaml")["cases"]
    assert [(case["id"], case["question"]) for case in cases] == [("a", "A"), ("b", "B"), ("c", "C")]
    assert all(case["assertions"][0]["value"] == "ok" for case in cases)


def test_a_reference_to_a_template_of_assertions_is_resolved(config: UserProject) -> None:
    config.write(
        "promptfooconfig.yaml",
        "prompts: ['{{question}}']\nproviders: openai:gpt-5.4-mini\n"
        "assertionTemplates: {polite: {type: icontains, value: please}, a: {$ref: '#/assertionTemplates/a'}}\n"
        "tests: [{vars: {question: A}, assert: [{$ref: '#/assertionTemplates/polite'}, {$ref: '#/assertionTemplates/a'},"
        " {$ref: '#/nowhere'}, {$ref: other.yaml}]}]\n",
    )
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "refs")
    assert ran.stdout.count("is not an assertion with a type") == 3
    assert [item["contains_all"] for item in imported(config, "refs")["cases"][0]["assertions"]] == [["please"]]


def test_the_parts_of_a_set_weigh_together_what_the_set_weighs(config: UserProject) -> None:
    config.write(
        "promptfooconfig.yaml",
        """
        prompts: ['{{question}}']
        providers: openai:gpt-5.4-mini
        tests:
          - vars: {question: A}
            threshold: 0.5
            assert:
              - {type: contains, value: a}
              - {type: assert-set, assert: [{type: contains, value: b, weight: 3}, {type: contains, value: c}]}
              - type: assert-set
                weight: 4
                assert: [{type: contains, value: d}, {type: assert-set, assert: [{type: contains, value: e}]}]
        """,
    )
    assert config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "sets").exit_code == 0
    assertions = imported(config, "sets")["cases"][0]["assertions"]
    assert [(item["value"], item.get("weight", 1)) for item in assertions] == [
        ("a", 1),
        ("b", 0.75),
        ("c", 0.25),
        ("d", 2),
        ("e", 2),
    ]


def test_what_would_make_the_scenario_invalid_is_left_out(config: UserProject) -> None:
    config.write(
        "promptfooconfig.yaml",
        "prompts: ['{{question}}']\nproviders: [openai:gpt-5.4-mini, 'openai:chat:{{ env.MODEL }}']\n"
        "tests: [{description: asks, vars: {question: A}}, {description: is silent, vars: {question: ''}}]\n",
    )
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "valid")
    assert "providers[1]: the provider openai:chat:{{ env.MODEL }} was left out" in ran.stdout
    assert "tests[1]: the test is silent was left out: its message to the model would be empty" in ran.stdout
    assert config.salvo("validate").exit_code == 0


def test_scenarios_multiply_their_configurations_and_tests(config: UserProject) -> None:
    config.write(
        "promptfooconfig.yaml",
        """
        prompts: '{{greeting}} {{name}}'
        providers: [anthropic:claude-haiku-4-5]
        scenarios:
          - config: [{vars: {greeting: hi}}, {vars: {greeting: hello}}]
            tests:
              - vars: {name: Ann}
                assert: [{type: contains, value: '{{name}}'}]
              - vars: {name: Bob}
        """,
    )
    assert config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "product").exit_code == 0
    cases = imported(config, "product")["cases"]
    assert [(case["greeting"], case["name"]) for case in cases] == [
        ("hi", "Ann"),
        ("hi", "Bob"),
        ("hello", "Ann"),
        ("hello", "Bob"),
    ]
    assert cases[1]["assertions"] == [
        {"type": "jmespath", "name": "answers", "path": "final_output", "operator": "exists"}
    ]


def test_a_key_of_the_environment_stays_a_name(config: UserProject) -> None:
    config.write(
        "promptfooconfig.yaml",
        """
        prompts: hi
        providers:
          - id: openai:chat:house
            config: {apiBaseUrl: "http://{{ env.HOUSE }}:1/v1", apiKey: "{{ env.HOUSE_KEY }}"}
        """,
    )
    assert config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "house").exit_code == 0
    assert imported(config, "house")["adapter_options"] == {
        "base_url": "http://${HOUSE}:1/v1",
        "api_key": "${HOUSE_KEY}",
    }


def test_a_text_of_any_kind_is_read_again_as_it_was(config: UserProject) -> None:
    texts = [
        "007",
        "1e3",
        "0o17",
        "yes",
        "null",
        "2026-03-15",
        "a: b",
        " x ",
        "two\nlines\n",
        "tab\there",
        "#",
        "",
        "é",
    ]
    tests = [{"vars": {"question": text}, "assert": [{"type": "equals", "value": text}]} for text in texts]
    config.write(
        "promptfooconfig.yaml",
        json.dumps({"prompts": ["{{question}}!"], "providers": ["openai:gpt-5.4-mini"], "tests": tests}),
    )
    assert config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "texts").exit_code == 0
    with LoopbackProvider(lambda asked: Say(str(asked.messages[-1]["content"])[:-1] or "?")) as provider:
        config.reach(provider)
        config.salvo("run", "scenarios/texts.yaml")
    sent = [request.messages[-1]["content"].removesuffix("!") for request in provider.requests]
    assert sorted(sent) == sorted(texts)


@pytest.mark.parametrize(
    "text, message",
    [
        ("tests: []\n", "is not a configuration of promptfoo"),
        (
            "prompts: hi\nproviders: [vertex:gemini]\n",
            "There is no provider that Salvo can run, so nothing was written.",
        ),
        ("prompts: [file://x.js]\nproviders: [openai:m]\n", "There is no prompt that Salvo can run"),
        ("prompts: [hi\n", "is not YAML"),
    ],
)
def test_a_configuration_of_which_nothing_can_be_run_is_refused(config: UserProject, text: str, message: str) -> None:
    config.write("promptfooconfig.yaml", text)
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml")
    assert (ran.exit_code, list((config.folder / "scenarios").glob("*"))) == (2, [])
    assert message in ran.output


def test_a_file_that_exists_is_kept(config: UserProject) -> None:
    config.salvo("import", "promptfoo", "promptfooconfig.yaml")
    again = config.salvo("import", "promptfoo", "promptfooconfig.yaml")
    assert again.exit_code == 2
    assert "exists already" in again.output
    assert config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--force").exit_code == 0


@pytest.mark.parametrize("options", [(), ("--force",)])
def test_a_link_is_not_written_through(config: UserProject, options: tuple[str, ...]) -> None:
    mine = config.folder / "profile"
    (config.folder / "scenarios/Support_answers.yaml").symlink_to(mine)
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml", *options)
    assert (ran.exit_code, "is a link" in ran.output) == (2, True)
    assert not mine.exists()


@pytest.mark.parametrize("options", [(), ("-o", "scenarios/imported", "--force")])
def test_a_folder_that_is_a_link_is_not_written_into(config: UserProject, options: tuple[str, ...]) -> None:
    mine = config.folder / "mine"
    (config.folder / "scenarios").rename(mine)
    before = sorted(mine.iterdir())
    (config.folder / "scenarios").symlink_to(mine)
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml", *options)
    assert (ran.exit_code, "scenarios is a link" in ran.output) == (2, True)
    assert sorted(mine.iterdir()) == before


DEEP = "[" * 200_000


@pytest.mark.parametrize(
    "file, content, lines",
    [
        ("deep.txt", DEEP, "prompts: ['file://deep.txt']\ntests: [{vars: {a: 1}}]"),
        ("deep.json", DEEP, "prompts: [Hello]\ntests: file://deep.json"),
        ("deep.jsonl", DEEP, "prompts: [Hello]\ntests: file://deep.jsonl"),
        (
            "none.csv",
            "a\n",
            "prompts: [Hello]\nscenarios: [{config: [{assert: 7}], tests: [{assert: {type: equals}}]}]",
        ),
    ],
)
def test_a_file_of_any_content_is_read_or_left_out(config: UserProject, file: str, content: str, lines: str) -> None:
    config.write(file, content)
    config.write("promptfooconfig.yaml", f"description: x\nproviders: [openai:gpt-5.4-mini]\n{lines}\n")
    assert config.salvo("import", "promptfoo", "promptfooconfig.yaml").exit_code in (0, 2, 3)


def test_a_configuration_cannot_multiply_its_tests_without_end(config: UserProject) -> None:
    long = "x" * 50_000
    document = {
        "description": "many",
        "prompts": ["Hello {{a}} {{b}}"],
        "providers": ["openai:gpt-5.4-mini"],
        "scenarios": [{"config": [{"vars": {"a": n}} for n in range(1_000)], "tests": [{"vars": {"b": long}}] * 9}],
    }
    config.write("promptfooconfig.yaml", json.dumps(document))
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml")
    assert ran.exit_code == 3, ran.output[:500]
    assert "only the first 400 tests are imported" in ran.output


CONDITIONS: dict[str, dict[str, str | None]] = {
    "python": {
        "'refund' in output": None,
        "'refund' not in output": None,
        "'refund' in output.lower()": None,
        'output == "Refund"': None,
        "output != 'Refund'": None,
        "output.startswith('Re')": None,
        "not output.endswith('.')": None,
        "len(output) <= 6": None,
        "'refund' in output and len(output) > 6": None,
        "'this or that' in output or output.startswith('Re')": "left out",
    },
    "javascript": {
        "output.includes('refund')": "'refund' in output",
        "!output.includes('refund')": "'refund' not in output",
        "output.toLowerCase().includes('refund')": "'refund' in output.lower()",
        "output === 'Refund'": "output == 'Refund'",
        "output.length < 7 || output.endsWith('.');": "len(output) < 7 or output.endswith('.')",
        "!(output.startsWith('Re'))": "not output.startswith('Re')",
        "!output == 'Refund'": "left out",
        "output.length > 3 ? 1 : 0": "left out",
        "output.includes('a') && output.includes('b') || output.includes('c')": "left out",
        "output.toLowerCase().includes('Refund')": "left out",
    },
}
"""Conditions, and the same in Python; `python` is its own referee."""


@pytest.mark.parametrize("language", list(CONDITIONS))
def test_a_simple_condition_in_code_means_the_same(config: UserProject, language: str) -> None:
    conditions = {code: same or code for code, same in CONDITIONS[language].items()}
    document = {
        "description": "code",
        "prompts": ["Answer."],
        "providers": ["openai:gpt-5.4-mini"],
        "tests": [
            {"description": f"n{number}", "assert": [{"type": language, "value": code}]}
            for number, code in enumerate(conditions)
            if conditions[code] != "left out"
        ],
    }
    config.write("promptfooconfig.yaml", yaml.safe_dump(document))
    assert config.salvo("import", "promptfoo", "promptfooconfig.yaml").exit_code == 0
    for output in ("Refund", "a refund.", "refund", "Re", "or else"):
        with LoopbackProvider(lambda _, output=output: Say(output)) as provider:
            config.reach(provider)
            batches = json.loads(config.salvo("run", "--json", "-n", "1").stdout)["batches"]
        verdicts = {batch["scenario_id"]: batch["passed"] == 1 for batch in batches}
        assert verdicts == {
            f"code[n{number}]": bool(eval(same, {"output": output}))  # noqa: S307 - the conditions above
            for number, same in enumerate(conditions.values())
            if same != "left out"
        }


def test_other_code_is_left_out(config: UserProject) -> None:
    codes = [
        (language, code) for language, items in CONDITIONS.items() for code, same in items.items() if same == "left out"
    ]
    document = {
        "prompts": ["Answer."],
        "providers": ["openai:gpt-5.4-mini"],
        "tests": [{"assert": [{"type": language, "value": code}]} for language, code in codes],
    }
    config.write("promptfooconfig.yaml", yaml.safe_dump(document))
    ran = config.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "code")
    assert (ran.exit_code, ran.output.count("code is not imported")) == (3, len(codes))
