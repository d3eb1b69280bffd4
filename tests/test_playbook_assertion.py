"""The assertion `playbook`: a BYOP playbook on an agent's final output, through the scenarios' own door."""

import json
from pathlib import Path

import pytest

from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, Say, always

CAREFUL = (
    "This review assumes that German law applies and that Acme is the controller. The clause may be too narrow for a "
    "change of hosting provider. Have outside counsel review clause 11 before signature. Annex II was not provided, so "
    "the security measures were not checked. On these facts the notice period appears to be in line with the agreement "
    "that the parties signed."
)
SURE = (
    "The agreement is fully compliant with the GDPR and there is no risk for the customer. The liability cap is "
    "enforceable in every case and will always be upheld. The transfer is legal, and the security measures are "
    "sufficient. The agreement covers everything that is needed, and it can be signed as it stands today by anyone "
    "at Acme without any further step."
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UserProject:
    made = UserProject(tmp_path, monkeypatch)
    made.write(
        "agent.py",
        f"CAREFUL = {CAREFUL!r}\nSURE = {SURE!r}\n\ndef careful(request):\n    return CAREFUL\n\ndef sure(request):\n    return SURE\n",
    )
    return made


def scenario(project: UserProject, agent: str, **fields: object) -> None:
    assertion = json.dumps({"type": "playbook", "required": True, **fields})
    project.write(
        "scenarios/review.yaml",
        f"scenario: review\nadapter: function:agent.{agent}\nuser_message: Review the DPA.\nassertions:\n  - {assertion}\n",
    )


def stored(project: UserProject) -> dict[str, object]:
    (run,) = project.runs()
    (verdict,) = json.loads(run.read_text())["eval_results"]
    return dict(verdict)


def test_an_output_passes_or_fails_by_the_report_which_is_stored_with_the_run(project: UserProject) -> None:
    scenario(project, "careful")
    assert project.salvo("run").exit_code == 0
    verdict = stored(project)
    assert verdict["actual"] == "STABLE"
    attached = verdict["attachments"]
    assert isinstance(attached, dict)
    assert attached["byop_report"]["summary"]["overall_status"] == "STABLE"
    assert attached["byop_report"]["integrity"]["report_hash"].startswith("sha256:")


def test_an_alert_fails_it(project: UserProject) -> None:
    scenario(project, "sure")
    assert project.salvo("run").exit_code == 1
    assert "The playbook says ALERT" in str(stored(project)["message"])


def test_a_model_may_judge_and_its_votes_are_replayed(project: UserProject) -> None:
    answer = {"result": "pass", "confidence": 0.9, "evidence_citations": [], "notes": "Stated."}
    scenario(project, "careful", evaluator="anthropic/claude-sonnet-4-6", fail_on="review")
    with LoopbackProvider(always(Say(json.dumps(answer)))) as provider:
        project.reach(provider)
        assert project.salvo("run", "--record").exit_code == 0
        assert len(provider.requests) == 12
    project.environ = {}
    again = project.salvo("replay", "latest", "--re-eval")
    assert again.exit_code == 0, again.output


def test_a_judge_that_gives_no_votes_leaves_it_unjudged(project: UserProject) -> None:
    scenario(project, "careful", evaluator="anthropic/claude-sonnet-4-6")
    with LoopbackProvider(always(Say("I would rather not."))) as provider:
        project.reach(provider)
        assert project.salvo("run").exit_code == 3
    assert stored(project)["cause"] == "judge"


@pytest.mark.parametrize(
    "fields, field",
    [({"playbook": "nowhere.json"}, "playbook"), ({"evaluator": "gtp"}, "evaluator"), ({"runs": 1}, "runs")],
)
def test_what_is_wrong_with_it_is_said_before_any_call(
    project: UserProject, fields: dict[str, object], field: str
) -> None:
    scenario(project, "careful", **fields)
    said = project.salvo("validate")
    assert said.exit_code == 2
    assert f"assertions[0].{field}" in said.output
