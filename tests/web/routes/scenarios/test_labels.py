"""/api/batches/{id}/labels: runs are labelled, blind, and the pass rate is corrected by the labels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from salvo.playbooks.accounts.users import Role
from salvo.scenarios.labels.label_store import LabelStore
from salvo.scenarios.result import EvalResult, Outcome
from salvo.scenarios.store.store import RunStore
from tests.support import runs as support_runs
from tests.support.accounts import add_user, user_browser
from tests.support.web import Client, WebServer

JUDGE = {"type": "llm_judge", "name": "polite", "rubric": "The answer is polite.", "model": "openai/gpt-5.4-mini"}
SCENARIO: dict[str, Any] = {
    "scenario": "greet",
    "adapter": "openai",
    "user_message": "Greet the customer.",
    "min_pass_rate": 0.5,
    "labels": {"confidence": 0.95},
    "assertions": [JUDGE],
}


def judged(passed: bool, *votes: bool) -> EvalResult:
    verdict = EvalResult.judged(passed, "THE JUDGE'S REASON")
    verdict.name, verdict.type = "polite", "llm_judge"
    verdict.details = {"votes": [{"passed": vote} for vote in votes or (passed,) * 3]}
    return verdict


@pytest.fixture
def greeted(store: RunStore) -> RunStore:
    """Eight runs that were passed, three that were failed, and one with split votes."""
    verdicts = [judged(True)] * 8 + [judged(False)] * 3 + [judged(True, True, True, False)]
    store.save_batch(support_runs.batch(scenario=SCENARIO, runs=12, min_pass_rate=0.5, scenario_id="greet"))
    for number, verdict in enumerate(verdicts, start=1):
        outcome = Outcome.PASSED if verdict.passed else Outcome.FAILED
        store.save_run(
            support_runs.result(
                number, outcome=outcome, final_output=f"Hello {number}", eval_results=[verdict], scenario_id="greet"
            )
        )
    return store


class TestLabels:
    async def test_are_asked_one_after_the_other_without_any_verdict(self, api: Client, greeted: RunStore) -> None:
        asked = await api.ask("POST", "/api/batches/latest/labels/next", {"reviewer": " Ada ", "number": 12})
        assert asked.status == 200
        assert "REASON" not in asked.body.decode()
        progress = asked.json()
        assert progress["question"].keys() == {"key", "assertion", "rubric", "scale", "turn", "transcript"}
        assert (progress["remaining"], progress["labelled"]) == (12, 0)
        answered = []
        while question := progress["question"]:
            answered.append(question["transcript"]["final_output"])
            number = int(answered[-1].split()[1])
            body = {
                "reviewer": "Ada",
                "number": 12,
                "key": question["key"],
                "answer": "pass" if number <= 9 else "fail",
            }
            progress = (await api.ask("POST", "/api/batches/latest/labels", body)).json()
        assert sorted(answered, key=lambda text: int(text.split()[1])) == [f"Hello {n}" for n in range(1, 13)]
        assert progress["labelled"] == 12
        result = await api.get("/api/batches/latest/labels")
        assert (result["verdict"], result["labelled"], result["rate"]) == ("pass", 12, 0.75)
        [judge] = result["judges"]
        assert [run[-2:] for run in judge["wrongly_failed"]] == ["09"]
        detail = await api.get("/api/batches/latest")
        assert detail["summary"]["verdict"] == "passed"
        assert detail["verdict_label"] == "The pass rate, corrected by labels of people, reaches the required one."
        [row] = (await api.get("/api/batches"))["rows"]
        assert row["verdict"] == "passed"

    async def test_are_too_few_to_tell_at_first(self, api: Client, greeted: RunStore) -> None:
        result = await api.get("/api/batches/latest/labels")
        assert (result["verdict"], result["rate"], result["interval"]) == ("inconclusive", None, [0.0, 1.0])
        assert "would settle it, if people agree with the judge" in result["sentence"]
        assert (await api.get("/api/batches/latest"))["summary"]["verdict"] == "inconclusive"

    async def test_of_a_user_who_is_logged_in_are_in_their_name_whatever_is_typed(
        self, serve: Callable[..., WebServer], database: Path, greeted: RunStore
    ) -> None:
        for name in ("Ada Brown", "Bob"):
            add_user(f"sqlite:///{database}", name, Role.REVIEWER)
        server = serve()
        async with user_browser(server, "Ada Brown") as ada, user_browser(server, "Bob") as bob:
            asked = (await ada.ask("POST", "/api/batches/latest/labels/next", {"number": 1})).json()
            answer = {"number": 1, "key": asked["question"]["key"], "answer": "pass"}
            done = (await ada.ask("POST", "/api/batches/latest/labels", answer)).json()
            assert (done["question"], done["labelled"]) == (None, 1)
            forged = {**answer, "answer": "fail", "reviewer": "Ada Brown"}
            assert (await bob.ask("POST", "/api/batches/latest/labels", forged)).status == 201
        labels = LabelStore(greeted).load([answer["key"]])
        assert {label.reviewer: label.answer for label in labels} == {"Ada Brown": "pass", "Bob": "fail"}

    async def test_of_another_batch_are_refused(self, api: Client, greeted: RunStore) -> None:
        body = {"reviewer": "Ada", "key": "0" * 64, "answer": "pass"}
        assert (await api.ask("POST", "/api/batches/latest/labels", body)).status == 404
        nobody = {"reviewer": "  ", "number": 3}
        assert (await api.ask("POST", "/api/batches/latest/labels/next", nobody)).status == 400
