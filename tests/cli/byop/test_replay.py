"""`byop replay`: the same report from the recorded calls, or what differs."""

import json

import pytest

from tests.support.byop_project import (
    ASSUMED,
    CERTAIN,
    CLAUDE,
    GPT,
    ByopProject,
    ScriptedJudge,
    ScriptedVote,
    UnusableAnswer,
    verdict,
)
from tests.support.provider import LoopbackProvider, Say

MIXED: dict[str, list[ScriptedVote]] = {
    "assumption_disclosure": [
        UnusableAnswer("Sure!", then=Say(verdict("pass", ASSUMED))),
        UnusableAnswer("hm"),
        "pass",
    ],
    "certainty_language": ["fail", "pass", "fail"],
}


def evaluated(project: ByopProject, *arguments: str) -> str:
    with LoopbackProvider(ScriptedJudge(MIXED)) as provider:
        project.reach(provider)
        return str(project.evaluate("--subject", "DPA", *arguments)["report_id"])


@pytest.mark.parametrize("evaluator", [CLAUDE, GPT, "rules"])
@pytest.mark.parametrize("mode", ["full", "screening"])
def test_an_evaluation_is_reproduced_with_the_provider_off_and_no_key(
    project: ByopProject, evaluator: str, mode: str
) -> None:
    report_id = evaluated(project, "--evaluator", evaluator, "--mode", mode)
    project.environ.clear()
    replayed = project.byop("replay", report_id)
    assert replayed.exit_code == 0, replayed.output
    assert replayed.stdout.startswith(f"Identical: {report_id} was reproduced")
    assert json.loads(project.byop("replay", report_id, "--json").stdout) == {
        "id": report_id,
        "identical": True,
        "differences": [],
    }


def test_a_replay_needs_the_baseline_that_it_was_compared_with(project: ByopProject) -> None:
    first, second = evaluated(project), evaluated(project)
    assert project.byop("replay", second).exit_code == 0
    project.byop("baseline", "set", first)
    assert project.byop("replay", second).exit_code == 0, "what was saved since does not matter"
    project.byop("delete", first, "--yes")
    refused = project.byop("replay", second)
    assert (refused.exit_code, "no longer stored" in refused.stderr) == (3, True)


def test_a_stored_answer_that_was_altered_is_said(project: ByopProject) -> None:
    report_id = evaluated(project)
    project.alter(
        "UPDATE byop_votes SET exchanges = replace(exchanges, 'fail', 'pass') WHERE check_id = 'certainty_language'"
    )
    replayed = project.byop("replay", report_id)
    assert replayed.exit_code == 1
    assert f"The replay of {report_id} differs from its report in" in replayed.stdout
    assert "check_results" in replayed.stdout
    assert "stored" in replayed.stdout
    assert json.loads(project.byop("replay", report_id, "--json").stdout)["identical"] is False


def test_a_stored_vote_that_was_altered_is_said_by_verify(project: ByopProject) -> None:
    report_id = evaluated(project)
    project.alter("UPDATE byop_votes SET vote = replace(vote, 'fail', 'pass') WHERE check_id = 'certainty_language'")
    verified = project.byop("verify", report_id)
    assert (verified.exit_code, "altered" in verified.stdout) == (1, True)


def test_a_new_price_table_does_not_matter(project: ByopProject, monkeypatch: pytest.MonkeyPatch) -> None:
    report_id = evaluated(project, "--evaluator", CLAUDE)
    monkeypatch.setattr("salvo.playbooks.evaluate.judges.model.find_prices", lambda *_: None)
    replayed = project.byop("replay", report_id)
    assert replayed.exit_code == 0, replayed.output


def test_an_evaluation_at_another_address_is_reproduced_too(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge(certainty_language=Say(verdict("fail", CERTAIN)))) as provider:
        project.environ["MINE"] = "sk-mine"
        report = project.evaluate(
            "--evaluator", "openai/my-model", "--base-url", provider.openai_url, "--key-variable", "MINE"
        )
    project.environ.clear()
    assert project.byop("replay", report["report_id"]).exit_code == 0


def test_another_judge_than_then_cannot_answer_for_it(project: ByopProject, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated(project, "--evaluator", CLAUDE)
    monkeypatch.setattr("salvo.playbooks.evaluate.prompts.SYSTEM", "Other rules than then.")
    replayed = project.byop("replay", "latest")
    assert replayed.exit_code in (1, 3)
    assert "Traceback" not in replayed.output


@pytest.mark.parametrize("evaluator", [CLAUDE, "rules"])
def test_an_evaluation_with_the_prompt_or_rules_of_another_version_says_that_it_cannot_be_replayed(
    project: ByopProject, monkeypatch: pytest.MonkeyPatch, evaluator: str
) -> None:
    report_id = evaluated(project, "--evaluator", evaluator)
    for judge in ("model.ModelJudge", "rules_judge.RulesJudge"):
        monkeypatch.setattr(f"salvo.playbooks.evaluate.judges.{judge}.prompt_id", "newer")
    refused = project.byop("replay", report_id)
    assert (refused.exit_code, "than this version has (newer)" in refused.stderr) == (3, True)
