"""`byop replay`: the same report from the recorded calls, or what differs."""

import json

import pytest

from tests.support.office import ASSUMED, CERTAIN, CLAUDE, GPT, Garbled, Office, ScriptedJudge, Told, verdict
from tests.support.provider import LoopbackProvider, Say

MIXED: dict[str, list[Told]] = {
    "assumption_disclosure": [Garbled("Sure!", then=Say(verdict("pass", ASSUMED))), Garbled("hm"), "pass"],
    "certainty_language": ["fail", "pass", "fail"],
}


def evaluated(office: Office, *arguments: str) -> str:
    with LoopbackProvider(ScriptedJudge(MIXED)) as provider:
        office.reach(provider)
        return str(office.evaluate(*arguments)["report_id"])


@pytest.mark.parametrize("evaluator", [CLAUDE, GPT, "rules"])
@pytest.mark.parametrize("mode", ["full", "screening"])
def test_an_evaluation_is_reproduced_with_the_provider_off_and_no_key(
    office: Office, evaluator: str, mode: str
) -> None:
    report_id = evaluated(office, "--evaluator", evaluator, "--mode", mode)
    office.environ.clear()
    replayed = office.byop("replay", report_id)
    assert replayed.exit_code == 0, replayed.output
    assert replayed.stdout.startswith(f"Identical: {report_id} was reproduced")
    assert json.loads(office.byop("replay", report_id, "--json").stdout) == {
        "id": report_id,
        "identical": True,
        "differences": [],
    }


def test_a_replay_needs_the_baseline_that_it_was_compared_with(office: Office) -> None:
    first, second = evaluated(office), evaluated(office)
    assert office.byop("replay", second).exit_code == 0
    office.byop("baseline", "set", first)
    assert office.byop("replay", second).exit_code == 0, "what was saved since does not matter"
    office.byop("delete", first, "--yes")
    refused = office.byop("replay", second)
    assert (refused.exit_code, "no longer stored" in refused.stderr) == (3, True)


def test_a_stored_answer_that_was_altered_is_said(office: Office) -> None:
    report_id = evaluated(office)
    office.alter(
        "UPDATE byop_votes SET exchanges = replace(exchanges, 'fail', 'pass') WHERE check_id = 'certainty_language'"
    )
    replayed = office.byop("replay", report_id)
    assert replayed.exit_code == 1
    assert f"The replay of {report_id} differs from its report in" in replayed.stdout
    assert "check_results" in replayed.stdout
    assert "stored" in replayed.stdout
    assert json.loads(office.byop("replay", report_id, "--json").stdout)["identical"] is False


def test_a_stored_vote_that_was_altered_is_said_by_verify(office: Office) -> None:
    report_id = evaluated(office)
    office.alter("UPDATE byop_votes SET vote = replace(vote, 'fail', 'pass') WHERE check_id = 'certainty_language'")
    verified = office.byop("verify", report_id)
    assert (verified.exit_code, "altered" in verified.stdout) == (1, True)


def test_a_new_price_table_does_not_matter(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    report_id = evaluated(office, "--evaluator", CLAUDE)
    monkeypatch.setattr("salvo.playbooks.evaluate.judges.model.find_prices", lambda *_: None)
    replayed = office.byop("replay", report_id)
    assert replayed.exit_code == 0, replayed.output


def test_an_evaluation_at_another_address_is_reproduced_too(office: Office) -> None:
    with LoopbackProvider(ScriptedJudge(certainty_language=Say(verdict("fail", CERTAIN)))) as provider:
        office.environ["MINE"] = "sk-mine"
        report = office.evaluate(
            "--evaluator", "openai/my-model", "--base-url", provider.openai_url, "--key-variable", "MINE"
        )
    office.environ.clear()
    assert office.byop("replay", report["report_id"]).exit_code == 0


def test_another_judge_than_then_cannot_answer_for_it(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated(office, "--evaluator", CLAUDE)
    monkeypatch.setattr("salvo.playbooks.evaluate.prompts.SYSTEM", "Other rules than then.")
    replayed = office.byop("replay", "latest")
    assert replayed.exit_code in (1, 3)
    assert "Traceback" not in replayed.output
