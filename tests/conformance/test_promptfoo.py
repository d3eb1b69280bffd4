"""promptfoo itself beside Salvo on one loopback provider: the same verdict for every test. Run by `make test-promptfoo`.

promptfoo is no dependency: PROMPTFOO names its executable, and PROMPTFOO_NODE a Node.js that it accepts.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, ProviderRequest, Say
from tests.support.provider.script import Answer

pytestmark = pytest.mark.promptfoo

ANSWERS = {
    "refund": "You get a Refund of 49.90 for the kettle.",
    "json": '{"refund": 49.9, "items": ["kettle"]}',
    "fenced": '```json\n{"refund": 49.9}\n```',
    "mixed": 'Here it is: {"refund": 49.9} as you asked.',
    "empty list": "[]",
    "number": "42",
    "words": "one two  three\nfour",
    "line": "total 42\n",
    "good": "GOOD: the sky is blue.",
    "bad": "The moon is made of cheese.",
    "umlaut": "Schöne Grüße",
}
ASSERTIONS: dict[str, list[dict[str, Any]]] = {
    "refund": [
        {"type": "equals", "value": "You get a Refund of 49.90 for the kettle."},
        {"type": "equals", "value": "{{ wanted }}"},
        {"type": "contains", "value": "Refund"},
        {"type": "contains", "value": "refund"},
        {"type": "icontains", "value": "REFUND"},
        {"type": "icontains", "value": "toaster"},
        {"type": "contains-all", "value": ["Refund", "kettle"]},
        {"type": "contains-all", "value": ["Refund", "toaster"]},
        {"type": "contains-all", "value": "Refund, kettle"},
        {"type": "contains-any", "value": ["toaster", "kettle"]},
        {"type": "contains-any", "value": ["toaster", "Kettle"]},
        {"type": "icontains-all", "value": ["refund", "KETTLE"]},
        {"type": "icontains-all", "value": ["refund", "toaster"]},
        {"type": "icontains-any", "value": ["toaster", "KETTLE"]},
        {"type": "icontains-any", "value": ["toaster", "mug"]},
        {"type": "starts-with", "value": "You get"},
        {"type": "starts-with", "value": "you get"},
        {"type": "regex", "value": r"\d+\.\d{2}"},
        {"type": "regex", "value": r"^\d+$"},
        {"type": "levenshtein", "value": "You get a refund of 49.90 for the kettle", "threshold": 2},
        {"type": "levenshtein", "value": "You get a refund of 49.90 for the kettle", "threshold": 1},
        {"type": "levenshtein", "value": "something else"},
        {"type": "latency", "threshold": 60000},
        {"type": "is-json"},
        {"type": "contains-json"},
        {"type": "finish-reason", "value": "stop"},
        {"type": "finish-reason", "value": "length"},
    ],
    "json": [
        {"type": "is-json"},
        {"type": "contains-json"},
        {"type": "is-json", "value": {"type": "object", "required": ["refund"]}},
        {"type": "is-json", "value": {"type": "object", "required": ["amount"]}},
        {"type": "equals", "value": {"refund": 49.9, "items": ["kettle"]}},
        {"type": "equals", "value": {"refund": 50}},
        {"type": "contains-json", "value": {"type": "object", "required": ["refund"]}},
        {"type": "contains-json", "value": {"type": "object", "required": ["amount"]}},
    ],
    "fenced": [{"type": "is-json"}, {"type": "contains-json"}],
    "mixed": [{"type": "is-json", "value": {}}, {"type": "is-json"}, {"type": "contains-json"}],
    "empty list": [{"type": "is-json"}],
    "number": [{"type": "is-json"}, {"type": "equals", "value": "42"}, {"type": "regex", "value": r"^\d+$"}],
    "words": [
        {"type": "word-count", "value": 4},
        {"type": "word-count", "value": 3},
        {"type": "word-count", "value": {"min": 2, "max": 4}},
        {"type": "word-count", "value": {"max": 3}},
        {"type": "word-count", "value": {"min": 5}},
    ],
    "line": [{"type": "regex", "value": r"42$"}, {"type": "regex", "value": r"(?<sum>\d+)\s"}],
    "umlaut": [{"type": "regex", "value": r"^\w+ \w+$"}, {"type": "icontains", "value": "GRÜSSE"}],
    "good": [
        {"type": "llm-rubric", "value": "is about the sky", "provider": "openai:chat:gpt-5.4-mini"},
        {"type": "model-graded-closedqa", "value": "is about the sky", "provider": "openai:chat:gpt-5.4-mini"},
        {"type": "factuality", "value": "The sky is blue.", "provider": "openai:chat:gpt-5.4-mini"},
    ],
    "bad": [
        {"type": "llm-rubric", "value": "is about the sky", "provider": "openai:chat:gpt-5.4-mini"},
        {"type": "model-graded-closedqa", "value": "is about the sky", "provider": "openai:chat:gpt-5.4-mini"},
        {"type": "factuality", "value": "The sky is blue.", "provider": "openai:chat:gpt-5.4-mini"},
    ],
}
NOT_NEGATED = {"latency", "llm-rubric", "model-graded-closedqa", "factuality"}
"""These have no counterpart that is negated, or their opposite is left to the judge."""


def _tests() -> list[dict[str, Any]]:
    """Return a test for each assertion, and one for its opposite, each with its own description."""
    tests: list[dict[str, Any]] = []
    for question, assertions in ASSERTIONS.items():
        for index, assertion in enumerate(assertions):
            variants = [assertion]
            if assertion["type"] not in NOT_NEGATED:
                variants.append({**assertion, "type": f"not-{assertion['type']}"})
            tests += [
                {
                    "description": f"{question} {index} {variant['type']}",
                    "vars": {"question": question, "wanted": "nothing of the kind"},
                    "assert": [variant],
                }
                for variant in variants
            ]
    both: list[dict[str, Any]] = [
        {"type": "contains", "value": "Refund", "weight": 3},
        {"type": "contains", "value": "toaster"},
    ]
    for threshold in (0.7, 0.8):
        tests.append(
            {
                "description": f"weights {threshold}",
                "vars": {"question": "refund"},
                "assert": both,
                "threshold": threshold,
            }
        )
    tests.append({"description": "all must pass", "vars": {"question": "refund"}, "assert": both})
    tests.append({"description": "no assertion", "vars": {"question": "refund"}})
    tests.append({"description": "lists", "vars": {"question": ["refund", "json"]}, "assert": [{"type": "is-json"}]})
    return tests


def answer(asked: ProviderRequest) -> Answer:
    text = json.dumps(asked.body["messages"])
    question = str(asked.messages[-1]["content"])
    if question.startswith("Answer: "):
        return Say(ANSWERS[question.removeprefix("Answer: ")])
    passed = "GOOD" in text
    if "You grade one run" in text:
        return Say(json.dumps({"passed": passed, "reason": "scripted"}))
    if "factual content" in text:
        return Say(json.dumps({"category": "C" if passed else "D", "reason": "scripted"}))
    if "criteri" in text and '\\"pass\\"' not in text:
        return Say("It does.\nY" if passed else "It does not.\nN")
    return Say(json.dumps({"pass": passed, "score": float(passed), "reason": "scripted"}))


def _promptfoo(folder: Path, environ: dict[str, str]) -> dict[tuple[str, str], bool]:
    executable = os.environ.get("PROMPTFOO", "")
    if not executable:
        pytest.skip("PROMPTFOO does not name the executable of promptfoo")
    quiet = {
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
        "PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo"),
    }
    arguments = ["eval", "-c", "promptfooconfig.yaml", "--no-cache", "--no-share", "--no-table", "--no-progress-bar"]
    ran = subprocess.run(
        [os.environ.get("PROMPTFOO_NODE", "node"), executable, *arguments, "-o", "results.json"],
        cwd=folder,
        env={**os.environ, **environ, **quiet},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert (folder / "results.json").exists(), ran.stdout + ran.stderr
    results = json.loads((folder / "results.json").read_text())["results"]["results"]
    return {
        (result["testCase"]["description"], str(result["vars"]["question"])): bool(result["success"])
        for result in results
    }


def _salvo(project: UserProject) -> dict[tuple[str, str], bool]:
    imported = project.salvo("import", "promptfoo", "promptfooconfig.yaml", "--name", "same")
    assert imported.exit_code == 0, imported.output
    ran = project.salvo("run", "scenarios/same.yaml", "--json")
    verdicts = {}
    rows = (project.folder / "scenarios/same.jsonl").read_text().splitlines()
    cases = {case["id"]: case for case in map(json.loads, rows)}
    for batch in json.loads(ran.stdout)["batches"]:
        assert batch["verdict"] in ("passed", "failed"), batch
        case_id = batch["scenario_id"].removeprefix("same[").removesuffix("]")
        name = case_id if not case_id.startswith("lists") else "lists"
        verdicts[name, cases[case_id]["question"]] = batch["verdict"] == "passed"
    return verdicts


@pytest.mark.timeout(1000)
def test_every_test_has_the_same_verdict_in_promptfoo_and_in_salvo(project: UserProject) -> None:
    config = {
        "prompts": ["Answer: {{question}}"],
        "providers": [{"id": "openai:chat:gpt-5.4-mini", "config": {"max_tokens": 500}}],
        "tests": _tests(),
    }
    project.write("promptfooconfig.yaml", json.dumps(config, indent=2))
    with LoopbackProvider(answer) as provider:
        project.reach(provider)
        theirs = _promptfoo(project.folder, project.environ)
        ours = _salvo(project)
    assert len(theirs) == len(ours) > 90
    assert ours == theirs
