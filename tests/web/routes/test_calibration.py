"""/api/calibration: how well evaluators agree with reviewers."""

from tests.support.web import CARELESS, Client


async def test_reviews_are_compared_with_the_evaluator(api: Client) -> None:
    assert await api.get("/api/calibration") == {"checks": []}
    report = (await api.report(CARELESS))["report"]
    report_id = report["report_id"]
    check = next(check for check in report["check_results"] if check["result"] == "fail")
    body = {
        "action": "override",
        "actor": "Ada",
        "check_id": check["check_id"],
        "result": "pass",
        "reason": "It quotes the contract.",
        "seen": 0,
    }
    added = await api.ask("POST", f"/api/reports/{report_id}/review", body)
    assert added.status == 201, added
    [row] = (await api.get("/api/calibration"))["checks"]
    assert (row["check_id"], row["evaluator"], row["reviewed"]) == (check["check_id"], "rules", 1)
    assert row["reviewed_sentence"] == "1 of 1 report reviewed, 0 of them blind."
    assert row["judged_pass_rate"] == "0%"
    assert row["corrected_pass_rate"] == "100%, 95% interval 100% to 100%, of 1 report"
    assert row["wrongly_failed"] == [report_id]
    assert await api.get("/api/calibration?blind=true") == {"checks": []}
