"""`byop run --batch-api` and `byop collect`: votes through a provider's batch API."""

import json
import sqlite3
from contextlib import closing

import pytest
from inline_snapshot import snapshot

from tests.support.byop_project import CLAUDE, GPT, ByopProject, ScriptedJudge, masked, results
from tests.support.provider import LoopbackProvider


def states(project: ByopProject) -> list[str]:
    with closing(sqlite3.connect(project.folder / "byop_runs.db")) as database:
        return [row[0] for row in database.execute("SELECT state FROM byop_evaluations ORDER BY id")]


def change_batch(project: ByopProject, **changes: str) -> None:
    """Change the stored batch, as if a process had been killed."""
    with closing(sqlite3.connect(project.folder / "byop_runs.db")) as database:
        [text] = database.execute("SELECT request FROM byop_evaluations").fetchone()
        request = json.loads(text)
        request["batch"]["batch"] |= changes
        database.execute("UPDATE byop_evaluations SET request = ?", [json.dumps(request)])
        database.commit()


@pytest.mark.parametrize("evaluator", [CLAUDE, GPT])
def test_an_evaluation_waits_and_is_completed_at_half_the_price(project: ByopProject, evaluator: str) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        direct = project.byop("run", "output.md", "--evaluator", evaluator, "--json")
        asked = [request.body for request in provider.requests]
        shown = project.byop("run", "output.md", "--evaluator", evaluator, "--batch-api")
        assert len(provider.requests) == len(asked), "nothing is asked directly"
        assert states(project) == ["done", "batched"]
        assert project.byop("run", "--resume", "latest").exit_code == 2, "it would be paid for twice"
        early = project.byop("collect")
        listed = project.byop("history")
        provider.end_batches()
        collected = project.byop("collect", "--json")
        again = project.byop("collect")
    assert (shown.exit_code, early.exit_code) == (3, 3)
    assert shown.stdout == ""
    assert "waits for the provider's batch" in shown.stderr
    assert "batched" in listed.stdout
    assert again.stderr == "No evaluation waits for a provider's batch.\n"
    before, after = (json.loads(output.stdout)["byop_report"] for output in (direct, collected))
    assert collected.exit_code == direct.exit_code
    assert results(after) == results(before)
    assert after["spent"]["cost_usd"] == pytest.approx(before["spent"]["cost_usd"] / 2)
    bodies = sorted(json.dumps(request.body, sort_keys=True) for request in provider.requests[len(asked) :])
    assert bodies == sorted(json.dumps(body, sort_keys=True) for body in asked), "the same questions"
    assert after["model_fingerprints"]["evaluator"]["routing_or_mode"] == "batch API"
    assert any("came through the batch API" in sentence for sentence in after["limitations"])
    assert project.byop("verify", "latest").exit_code == 0
    assert project.byop("replay", "latest").exit_code == 0


def test_what_is_printed(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        shown = project.byop("run", "output.md", "--batch-api")
        early = project.byop("collect", "latest")
        provider.end_batches()
        collected = project.byop("collect", "latest")
    assert masked(shown.stderr) == snapshot("""\
The text is sent to 127.0.0.1:PORT (anthropic/claude-sonnet-4-6): 12 questions with about 109 tokens of text each.
12 questions to claude-sonnet-4-6 sent to the batch API as msgbatch_0000.
The evaluation ID waits for the provider's batch, which takes up to a day. Complete it with: byop collect ID
""")
    assert masked(early.stderr) == snapshot("msgbatch_0000: in_progress, 0 done (12 questions to claude-sonnet-4-6).\n")
    assert masked(collected.stderr).replace(str(project.folder), "FOLDER") == snapshot("""\
msgbatch_0000: ended (12 questions to claude-sonnet-4-6).
Stored in FOLDER/byop_runs.db
""")


@pytest.mark.parametrize("kill_at", ["planned", "created"])
def test_a_crash_before_the_provider_s_id_is_stored_starts_no_second_batch(project: ByopProject, kill_at: str) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        project.byop("run", "output.md", "--evaluator", GPT, "--batch-api")
        change_batch(project, batch_id="", planned_at="2026-11-18T00:00:00+00:00")
        if kill_at == "planned":
            provider.batch_api.batches.clear()
        project.byop("collect")
        provider.end_batches()
        collected = project.byop("collect")
    assert len(provider.batch_api.batches) == 1, collected.output
    assert len(provider.requests) == 12
    assert states(project) == ["done"]


def test_items_without_an_answer_are_missing_votes(project: ByopProject) -> None:
    with LoopbackProvider(ScriptedJudge()) as provider:
        project.reach(provider)
        project.byop("run", "output.md", "--batch-api")
        provider.end_batches("expired")
        collected = project.byop("collect")
        assert collected.exit_code == 3
        assert "INCOMPLETE" in collected.stdout
        asked = len(provider.requests)
        resumed = project.byop("run", "--resume", "latest")
        assert len(provider.requests) - asked == 6, "only the missing votes are asked for, directly"
    assert resumed.exit_code in (0, 1), resumed.output


def test_the_rules_and_files_are_refused(project: ByopProject) -> None:
    rules = project.byop("run", "output.md", "--evaluator", "rules", "--batch-api")
    assert (rules.exit_code, "rules are not asked" in rules.stderr) == (2, True), rules.output
    for options in (["-o", "report.html"], ["--json"], ["--no-store"], ["--hashes-only"], ["--save-baseline"]):
        assert project.byop("run", "output.md", "--batch-api", *options).exit_code == 2
