"""/api/blind-reviews."""

from typing import Any

from tests.support.web import CAREFUL, CARELESS, Client

CHECK = "certainty_language"


async def series(api: Client) -> dict[str, Any]:
    (only,) = await api.get("/api/blind-reviews")
    return {"playbook_hash": only["playbook_hash"], "evaluator": only["evaluator"]}


async def next_question(api: Client, reviewer: str, number: int = 40) -> dict[str, Any]:
    answer = await api.ask(
        "POST", "/api/blind-reviews/next", {**await series(api), "reviewer": reviewer, "number": number}
    )
    assert answer.status == 200, answer.body
    progress: dict[str, Any] = answer.json()
    return progress


async def decide(api: Client, reviewer: str, progress: dict[str, Any], result: str) -> dict[str, Any]:
    question = progress["assignment"]
    body = {**await series(api), "reviewer": reviewer, "result": result}
    body |= {name: question[name] for name in ("report_id", "check_id")}
    answer = await api.ask("POST", "/api/blind-reviews", body)
    assert answer.status == 201, answer.body
    decided: dict[str, Any] = answer.json()
    return decided


async def decide_all(api: Client, reviewer: str, result: str) -> int:
    progress = await next_question(api, reviewer)
    while progress["assignment"]:
        progress = await decide(api, reviewer, progress, result)
    decided: int = progress["decided"]
    return decided


async def results(api: Client, reviewer: str = "") -> dict[str, Any]:
    found = await series(api)
    query = f"playbook_hash={found['playbook_hash']}&evaluator={found['evaluator']}&reviewer={reviewer}"
    shown: dict[str, Any] = await api.get(f"/api/blind-reviews/results?{query}")
    return shown


def names_in(value: Any) -> set[str]:
    """Every name of a field, at any depth."""
    if isinstance(value, dict):
        return set(value).union(*map(names_in, value.values()))
    return set().union(*map(names_in, value)) if isinstance(value, list) else set()


async def test_a_blind_reviewer_is_sent_the_text_and_the_check_and_no_result(api: Client) -> None:
    report = str((await api.report(CARELESS))["report"]["report_id"])
    secret = {"action": "override", "actor": "Bob", "check_id": CHECK, "result": "pass", "reason": "BOBS-REASON"}
    await api.ask("POST", f"/api/reports/{report}/review", secret)
    first = await next_question(api, "Ada")
    assert first["remaining"] == 4
    assert first["assignment"]["texts"]["ai_output"] == CARELESS
    assert first["assignment"]["instructions"]
    answers = [first, await decide(api, "Ada", first, "fail")]
    allowed = {
        "assignment",
        "remaining",
        "decided",
        "report_id",
        "check_id",
        "title",
        "question",
        "instructions",
        "texts",
    }
    allowed |= {"ai_output", "source_document", "prompt", "system_instructions", "outline"}
    allowed |= {"kind", "start", "end", "level", "label", "table", "row", "column"}
    assert names_in(answers) <= allowed
    assert "BOBS-REASON" not in str(answers)
    assert names_in(await api.get("/api/blind-reviews")) == {
        *("playbook_hash", "playbook_id", "playbook_version", "evaluator", "texts", "questions", "decided")
    }


async def test_decisions_are_blind_steps_of_the_review_that_the_audit_log_verifies(api: Client) -> None:
    report = str((await api.report(CARELESS))["report"]["report_id"])
    await decide(api, "Ada", await next_question(api, "Ada"), "pass")
    (step,) = (await api.get(f"/api/reports/{report}/review"))["history"]
    assert (step["event"]["blind"], step["event"]["seen"], step["event"]["result"]) == (True, 0, "pass")
    verified = await api.get(f"/api/reports/{report}/verify")
    assert verified["failed"] == 0
    assert "1 review event is what the audit log says" in str(verified)


async def test_nothing_of_a_question_is_shown_to_a_reviewer_who_has_still_to_decide_it(api: Client) -> None:
    await api.report(CARELESS)
    await api.report(CAREFUL)
    assert await decide_all(api, "Ada", "fail") == 8
    await decide(api, "Bob", await next_question(api, "Bob"), "fail")
    before = await results(api, "Bob")
    assert before["reviewers"][0].startswith("Ada and Bob agree on 1 of 1; Cohen's kappa not known")
    assert before["notes"][0].startswith("7 questions decided by others and not by you")
    assert sum(kind["decided"] for check in before["checks"] for kind in check["kinds"]) == 1
    await decide_all(api, "Bob", "fail")
    after = await results(api, "Bob")
    assert after["reviewers"][0].startswith("Ada and Bob agree on 8 of 8")
    assert after["notes"] == []
    assert after == await results(api)


async def test_before_the_first_blind_decision_no_text_is_called_newer_than_it(api: Client) -> None:
    await api.report(CARELESS)
    assert (await results(api))["notes"] == []


async def test_agreement_with_the_evaluator_is_measured_by_check(api: Client) -> None:
    careless = str((await api.report(CARELESS))["report"]["report_id"])
    careful = str((await api.report(CAREFUL))["report"]["report_id"])
    await decide_all(api, "Ada", "fail")
    check = next(check for check in (await results(api))["checks"] if check["check_id"] == CHECK)
    assert check["title"] == "Certainty language"
    assert (check["wrongly_passed"], check["wrongly_failed"]) == ([careful], [])
    assert check["passed_by_evaluator"] == "1 of 2"
    assert check["corrected"] == "0%, 95% interval 0% to 0%, by 2 decisions of 2"
    assert check["measures"][0]["value"] == "50%, 95% interval 50% to 50%"
    assert careless != careful


async def test_how_many_more_decisions_would_settle_a_check(api: Client) -> None:
    for number in range(6):
        await api.report(f"{CARELESS} {number}")
    await api.report(CAREFUL)
    first = await next_question(api, "Ada")
    await decide(api, "Ada", first, "fail")
    check_id = first["assignment"]["check_id"]
    before = {check["check_id"]: check["advice"] for check in (await results(api))["checks"]}
    assert "more decisions" in before[check_id]
    assert "of texts judged failed" in before[check_id]
    assert before[check_id].endswith("if people agree with the evaluator.")
    await decide_all(api, "Ada", "fail")
    assert {check["advice"] for check in (await results(api))["checks"]} == {""}


async def test_no_further_decision_is_asked_for_where_reviewers_could_not_tell(api: Client) -> None:
    await api.report(CARELESS)
    await decide_all(api, "Ada", "indeterminate")
    advice = {check["advice"] for check in (await results(api))["checks"]}
    assert advice == {"No further decision would settle it, because reviewers could not tell or disagree."}


async def test_who_decided_knowing_the_result_is_not_asked_and_cannot_decide_blind(api: Client) -> None:
    report = str((await api.report(CARELESS))["report"]["report_id"])
    step = {"action": "accept", "actor": "Ada", "check_id": CHECK}
    assert (await api.ask("POST", f"/api/reports/{report}/review", step)).status == 201
    assert (await next_question(api, "Ada"))["remaining"] == 3
    assert (await next_question(api, "Bob"))["remaining"] == 4
    body = {**await series(api), "reviewer": "Ada", "report_id": report, "check_id": CHECK, "result": "fail"}
    refused = await api.ask("POST", "/api/blind-reviews", body)
    assert refused.status == 400
    assert "knowing the evaluator's result" in refused.json()["error"]["message"]
