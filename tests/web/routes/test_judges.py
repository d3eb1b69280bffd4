"""/api/evaluations/…/again and /api/reports/…/judges."""

from collections.abc import Callable

from tests.support.provider import LoopbackProvider
from tests.support.web import CARELESS, GPT, KEY, Client, Judging, WebServer, client


async def again(api: Client, evaluation: str, **judge: str) -> str:
    reply = await api.ask("POST", f"/api/evaluations/{evaluation}/again", judge, x_api_key=KEY)
    assert reply.status == 202, reply
    judged = str(reply.json()["id"])
    assert (await api.events(judged))[-1].event == "done"
    return judged


async def test_another_judge_gets_the_same_request_and_a_table_shows_where_they_agree(
    serve: Callable[..., WebServer],
) -> None:
    with LoopbackProvider(Judging(result="pass", quote="You can sign the agreement today")) as provider:
        async with client(serve(base_urls=(provider.openai_url,))) as api:
            first = (await api.report(subject="NDA", title="Lease", mode="screening"))["report"]
            second = await again(api, first["report_id"], evaluator=GPT, base_url=provider.openai_url)
            report = (await api.get(f"/api/reports/{second}"))["report"]
            assert (report["subject"], report["execution_mode"]) == ("NDA", "screening")
            assert report["integrity"]["inputs_fingerprint"] == first["integrity"]["inputs_fingerprint"]
            table = await api.get(f"/api/reports/{first['report_id']}/judges")
            assert [row["evaluator"] for row in table["reports"]] == ["rules", GPT]
            assert {tuple(check["results"]) for check in table["checks"]} == {("fail", "pass")}
            assert table["summary"] == "The evaluators agree on 0 of 4 checks that all of them judged."
            assert await api.get(f"/api/reports/{second}/judges") == table
            third = await again(api, second, evaluator="rules")
            names = [row["evaluator"] for row in (await api.get(f"/api/reports/{third}/judges"))["reports"]]
            assert names == ["rules #1", GPT, "rules #2"]


async def test_only_reports_on_the_same_text_are_in_the_table(api: Client) -> None:
    first = (await api.report())["report"]["report_id"]
    await api.report(f"{CARELESS} More.")
    assert len((await api.get(f"/api/reports/{first}/judges"))["reports"]) == 1


async def test_what_cannot_be_judged_again_is_refused(api: Client) -> None:
    hashes = (await api.report(hashes_only=True))["report"]["report_id"]
    reply = await api.ask("POST", f"/api/evaluations/{hashes}/again", {"evaluator": "rules"})
    assert (reply.status, reply.code) == (409, "texts_not_stored")
    without_key = await api.ask("POST", f"/api/evaluations/{hashes}/again", {"evaluator": GPT})
    assert without_key.code == "missing_key"
