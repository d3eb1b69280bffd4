"""/api/reports/…/review and /api/review-queue."""

from typing import Any

import pytest

from tests.support.web import CARELESS, Client

CHECK = "certainty_language"


async def add(api: Client, report: str, **step: Any) -> dict[str, Any]:
    answer = await api.ask("POST", f"/api/reports/{report}/review", {"actor": "Ada Brown", **step})
    assert answer.status == 201, answer.body
    review: dict[str, Any] = answer.json()
    return review


async def new_report(api: Client) -> str:
    return str((await api.report(CARELESS))["report"]["report_id"])


def of_check(review: dict[str, Any], check_id: str = CHECK) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in review["checks"] if each["review"]["check_id"] == check_id)
    return found


async def test_an_override_is_returned_beside_the_evaluators_result(api: Client) -> None:
    report = await new_report(api)
    assert of_check(await api.get(f"/api/reports/{report}/review"))["sentence"] == ""
    await add(api, report, action="override", check_id=CHECK, result="pass", reason="It quotes the contract.")
    review = await api.get(f"/api/reports/{report}/review")
    assert of_check(review)["sentence"] == (
        "FAIL by the evaluator; changed to PASS by the reviewer Ada Brown: It quotes the contract."
    )
    assert CHECK not in review["history"][0]["sentence"]
    assert (await api.get(f"/api/reports/{report}"))["report"]["check_results"][1]["result"] == "fail"
    assert (await api.get(f"/api/reports/{report}/verify"))["failed"] == 0


async def test_who_decides_without_having_seen_another_decision_does_not_replace_it(api: Client) -> None:
    report = await new_report(api)
    await add(api, report, action="accept", check_id=CHECK, seen=0)
    review = await add(
        api, report, action="override", actor="Bob", check_id=CHECK, result="pass", reason="A quote.", seen=0
    )
    assert of_check(review)["review"]["standing"] == "disputed"


async def test_a_sign_off_of_what_changed_since_is_refused(api: Client) -> None:
    report = await new_report(api)
    seen = (await api.get(f"/api/reports/{report}/review"))["state_hash"]
    await add(api, report, action="comment", actor="Bob", reason="Wait.")
    step = {"action": "sign_off", "actor": "Ada", "state_hash": seen}
    answer = await api.ask("POST", f"/api/reports/{report}/review", step)
    assert (answer.status, answer.json()["error"]["code"]) == (409, "review_changed")
    now = (await api.get(f"/api/reports/{report}/review"))["state_hash"]
    review = await add(api, report, action="sign_off", state_hash=now)
    assert [signed["sign_off"]["standing"] for signed in review["sign_offs"]] == ["valid"]


@pytest.mark.parametrize(
    "step, status",
    [
        ({"action": "override", "check_id": CHECK, "result": "pass"}, 400),
        ({"action": "accept", "check_id": "nothing"}, 400),
        ({"action": "accept", "check_id": "run_variance"}, 400),
        ({"action": "erase"}, 422),
        ({"action": "comment", "reason": "x" * 20_001}, 422),
        ({"action": "accept", "check_id": CHECK, "authenticated": True}, 422),
    ],
)
async def test_a_step_that_cannot_be_is_refused_and_nothing_is_stored(
    api: Client, step: dict[str, Any], status: int
) -> None:
    report = await new_report(api)
    answer = await api.ask("POST", f"/api/reports/{report}/review", {"actor": "Ada", **step})
    assert answer.status == status
    assert (await api.get(f"/api/reports/{report}/review"))["history"] == []


async def test_exports_can_let_the_reviewed_result_count(api: Client) -> None:
    report = await new_report(api)
    for check in (await api.get(f"/api/reports/{report}/review"))["checks"]:
        if check["review"]["evaluator_result"] == "fail":
            await add(api, report, action="override", check_id=check["review"]["check_id"], result="pass", reason="No.")
    by_evaluator, by_reviewer = [
        (await api.ask("GET", f"/api/reports/{report}/export?format=xml{more}")).body for more in ("", "&reviewed=true")
    ]
    assert b"<failure" in by_evaluator
    assert b"<failure" not in by_reviewer
    assert b"FAIL by the evaluator; changed to PASS by the reviewer" in by_reviewer


async def test_the_queue_lists_what_waits_and_can_be_filtered(api: Client) -> None:
    report = await new_report(api)
    queue = await api.get("/api/review-queue")
    failed = [item["check_id"] for item in queue["items"] if item["evaluator_result"] == "fail"]
    assert CHECK in failed
    assert queue["waiting"] == queue["total"]
    await add(api, report, action="accept", check_id=CHECK)
    await add(api, report, action="assign", check_id=failed[0], assignee="Bob")
    assert CHECK not in [item["check_id"] for item in (await api.get("/api/review-queue"))["items"]]
    decided = await api.get("/api/review-queue?show=decided")
    assert [item["check_id"] for item in decided["items"]] == [CHECK]
    mine = await api.get("/api/review-queue?show=all&assigned=me&me=Bob")
    assert [item["check_id"] for item in mine["items"]] == [failed[0]]
    assert mine["reviewers"] == ["Ada Brown", "Bob"]
    assert (await api.get("/api/review-queue?subject=nothing"))["total"] == 0
    assert (await api.get("/api/review-queue?limit=1"))["total"] > 1
