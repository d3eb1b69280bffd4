"""`salvo score`: stored runs with a new rubric, judge or assertion; only judges are called."""

import json
import re
import signal
import time

import pytest
from inline_snapshot import snapshot

from tests.support.greeting import GREET, agent_and_judge, by_the_text
from tests.support.project import UserProject
from tests.support.provider import Fault, LoopbackProvider, Say, always

POLITE = """
scenario: greet
adapter: openai
model: gpt-5.4-mini
user_message: Greet the customer.
min_pass_rate: 0.4
assertions:
  - {type: llm_judge, name: polite, rubric: The greeting is polite., k: 3}
"""
AGENT = """
import pathlib
from salvo import AdapterResponse, BaseAdapter

class Agent(BaseAdapter):
    async def run(self, request):
        with pathlib.Path("calls.txt").open("a") as file:
            file.write("called\\n")
        return AdapterResponse("Good morning!")
"""


def tidy(text: str) -> str:
    return re.sub(r"\b[0-9a-z]{16}\b", "ID", text)


@pytest.fixture
def greeted(project: UserProject) -> UserProject:
    project.write("scenarios/book_flight.yaml", GREET)
    project.write("polite.yaml", POLITE)
    return project


def contents(project: UserProject) -> dict[str, bytes]:
    folders = [project.store / name for name in ("runs", "batches", "recordings")]
    files = [file for folder in folders for file in folder.rglob("*.json")]
    return {str(file): file.read_bytes() for file in [*files, project.store / "history.jsonl"]}


def test_a_new_rubric_scores_the_stored_runs_and_only_the_judge_is_called(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        assert greeted.salvo("run", "-n", "4", "-j", "1", "--record").exit_code == 0
        before, calls = contents(greeted), len(provider.requests)
        shown = greeted.salvo("score", "latest", "polite.yaml")
        asked = provider.requests[calls:]
    assert shown.exit_code == 0, shown.output
    assert len(asked) == 4 * 3
    assert all(request.system for request in asked), "the agent is not called"
    lines = tidy(shown.stdout).splitlines()
    assert lines[0].startswith("greet  4/4 runs  pass-rate: 50%")
    assert [line for line in lines if "polite" in line or "salvo" in line or "agent" in line] == snapshot(
        [
            "polite    2/4 passed",
            "  salvo report ID-0002 --score score-ID",
            "  salvo report ID-0004 --score score-ID",
            "Scored with polite.yaml: of 4 runs of the batch ID, 0 pass that did not, and 2 no longer pass.",
            "The agent did not run again: latency, and cost without the judges, are those of the batch.",
            "Stored as score-ID, which `salvo report` and `salvo compare` take.",
        ]
    )
    assert re.fullmatch(
        r"Calls go to http://127\.0\.0\.1:\d+/v1, with OPENAI_BASE_URL, OPENAI_API_KEY\.", shown.stderr.splitlines()[0]
    )
    assert contents(greeted) == before, "neither the batch nor a run is changed"


def test_the_stored_score_is_shown_by_report_and_by_its_run_and_beside_its_batch(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2", "-j", "1")
        scored = greeted.salvo("score", "latest", "polite.yaml")
        calls = len(provider.requests)
        [score_id] = set(re.findall(r"score-\w{16}", scored.stdout))
        shown = greeted.salvo("report", score_id)
        assert scored.stdout.startswith(shown.stdout.rstrip("\n"))
        document = json.loads(greeted.salvo("report", score_id, "--json").stdout)
        assert [(item["batch_id"], item["passed"], item["failed"]) for item in document["batches"]] == [
            (score_id, 1, 1)
        ]
        [failed] = document["batches"][0]["failures"]
        run = greeted.salvo("report", failed["run_id"], "--score", score_id).stdout
        assert "3 of 3 votes failed it" in run
        assert "polite" not in greeted.salvo("report", failed["run_id"]).stdout
        assert f"Scored again with polite.yaml: salvo report {score_id}" in greeted.salvo("report", "latest").stdout
        assert failed["run_id"] in greeted.salvo("report", score_id, "--failures").stdout
        assert len(provider.requests) == calls


def test_two_batches_are_compared_by_their_new_scores(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        ids = []
        for _ in range(2):
            greeted.salvo("run", "-n", "10")
            ids += re.findall(r"score-\w{16}", greeted.salvo("score", "latest", "polite.yaml").stdout)[:1]
    compared = greeted.salvo("compare", *ids)
    assert compared.exit_code == 0, compared.output
    assert "5/10" in compared.stdout or "5 of 10" in compared.stdout, compared.stdout
    document = json.loads(greeted.salvo("compare", *ids, "--json").stdout)
    [row] = document["scenarios"]
    assert (row["a"]["passed"], row["b"]["passed"]) == (5, 5)


def test_two_verdicts_on_the_same_runs_are_not_compared_as_if_they_were_independent(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2")
        [score_id, *_] = re.findall(r"score-\w{16}", greeted.salvo("score", "latest", "polite.yaml").stdout)
    refused = greeted.salvo("compare", "latest", score_id)
    assert refused.exit_code == 2
    assert "verdicts on the same runs" in refused.output
    assert greeted.salvo("compare", "latest", score_id, "--all").exit_code == 2


def test_the_agents_code_does_not_run_and_an_assertion_of_the_project_does(project: UserProject) -> None:
    project.write("agent.py", AGENT)
    project.write("checks.py", "def short(scenario, assertion, result):\n    return len(result.final_text) < 20\n")
    scenario = GREET.replace("adapter: openai\nmodel: gpt-5.4-mini", "adapter: agent:Agent")
    project.write("scenarios/book_flight.yaml", scenario)
    assert project.salvo("run", "-n", "3").exit_code == 0
    called = (project.folder / "calls.txt").read_text()
    project.write("agent.py", "raise SystemExit('the code of the agent ran')")
    project.write("tools.py", "raise SystemExit('the code of the tools ran')")
    checks = "assertions:\n  - {type: custom, function: checks.short}\n  - {type: cost_limit, max_usd: 1}\n"
    project.write("short.yaml", scenario[: scenario.index("assertions:")] + checks)
    scored = project.salvo("score", "latest", "short.yaml")
    assert "short" in scored.stdout
    assert scored.exit_code == 3, "the cost is not known"
    assert (project.folder / "calls.txt").read_text() == called


def test_without_a_file_the_present_file_of_the_batch_is_used(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2", "-j", "1")
        greeted.write("scenarios/book_flight.yaml", POLITE.replace("min_pass_rate: 0.4", "min_pass_rate: 0.9"))
        shown = greeted.salvo("score")
    assert shown.exit_code == 1, shown.output
    assert "scenarios/book_flight.yaml" in shown.stdout


def test_the_runs_are_judged_by_what_they_were_asked_and_a_note_says_so(greeted: UserProject) -> None:
    greeted.write("polite.yaml", POLITE.replace("Greet the customer.", "Insult me.").replace("greet\n", "insult\n"))
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "1")
        shown = greeted.salvo("score", "latest", "polite.yaml")
        assert "Insult" not in str(provider.requests[-1].body)
        assert "Greet the customer." in str(provider.requests[-1].body)
    assert "Note: The file has another user_message or system_prompt." in shown.stderr
    assert "Note: The runs are of the scenario greet; insult only scores them." in shown.stderr


def test_a_run_that_did_not_finish_stays_what_it_was(greeted: UserProject) -> None:
    with LoopbackProvider(lambda request: by_the_text(request) if request.system else Fault.unauthorized()) as provider:
        greeted.reach(provider)
        assert greeted.salvo("run", "-n", "2").exit_code == 3
        calls = len(provider.requests)
        shown = greeted.salvo("score", "latest", "polite.yaml")
        assert len(provider.requests) == calls
    assert shown.exit_code == 3
    assert "2 runs could not be judged" in shown.stdout


def test_a_judge_out_of_reach_makes_errors_not_failures(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(lambda _: Fault.unauthorized())) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2")
        shown = greeted.salvo("score", "latest", "polite.yaml", "--json")
    assert shown.exit_code == 3
    [batch] = json.loads(shown.stdout)["batches"]
    assert (batch["errors"], batch["failed"], len(batch["results"])) == (2, 0, 2)


def test_a_fault_that_every_run_would_meet_stops_the_scoring(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(lambda _: Fault.unauthorized())) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "5")
        calls = len(provider.requests)
        shown = greeted.salvo("score", "latest", "polite.yaml", "-j", "1")
        assert len(provider.requests) - calls == 3, "the three votes on the first run"
    assert shown.exit_code == 3
    assert "every further run would meet the same fault of its judge" in shown.stdout


def test_without_the_key_of_the_judge_nothing_is_stored(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run")
    greeted.environ = {}
    shown = greeted.salvo("score", "latest", "polite.yaml")
    assert shown.exit_code == 2
    assert "There is no API key for openai." in shown.output
    assert not (greeted.store / "scores").exists()


def test_a_budget_stops_it_and_resume_goes_on(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "4")
        short = greeted.salvo("score", "latest", "polite.yaml", "-j", "1", "--max-cost", "0.0000001")
        assert short.exit_code == 3
        [score_id, *_] = re.findall(r"score-\w{16}", short.stdout)
        assert f"salvo score --resume {score_id}" in short.stdout
        calls = len(provider.requests)
        resumed = greeted.salvo("score", "--resume", score_id)
        assert len(provider.requests) - calls == 3 * 3
        assert resumed.exit_code == 0, resumed.output
        greeted.write("polite.yaml", POLITE.replace("is polite", "is rude"))
        changed = greeted.salvo("score", "--resume", score_id)
    assert changed.exit_code == 2
    assert "has changed since" in changed.output


def test_what_the_command_of_the_batch_set_still_applies_when_its_own_scoring_is_resumed(greeted: UserProject) -> None:
    greeted.write("scenarios/book_flight.yaml", POLITE)
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "4", "--min-pass-rate", "0.9")
        short = greeted.salvo("score", "-j", "1", "--max-cost", "0.0000001")
        [score_id, *_] = re.findall(r"score-\w{16}", short.stdout)
        resumed = greeted.salvo("score", "--resume", score_id)
    assert resumed.exit_code == 1, resumed.output
    assert "min_pass_rate is 90%" in resumed.stdout


def test_two_processes_do_not_pay_for_the_same_scores(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "4")
        short = greeted.salvo("score", "latest", "polite.yaml", "-j", "1", "--max-cost", "0.0000001")
        [score_id, *_] = re.findall(r"score-\w{16}", short.stdout)
        provider.hold()
        calls = len(provider.requests)
        first = greeted.process("score", "--resume", score_id)
        while len(provider.requests) == calls:
            time.sleep(0.02)
        second = greeted.process("score", "--resume", score_id)
        _, message = second.communicate(timeout=30)
        assert second.returncode == 2, message
        provider.let_go()
        first.communicate(timeout=30)
        assert first.returncode == 0
        assert len(provider.requests) - calls == 3 * 3


def test_a_run_that_cannot_be_read_is_named_and_left_out(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "3", "-j", "1")
        greeted.runs()[1].write_text("{")
        greeted.write("polite.yaml", POLITE.replace("0.4", "0.9"))
        shown = greeted.salvo("score", "latest", "polite.yaml")
    assert shown.exit_code == 3
    assert "Not scored: " in shown.stderr
    assert "greet  2/3 runs" in shown.stdout


def test_ctrl_c_keeps_what_was_paid_for(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "4")
        provider.hold(after=3)
        command = greeted.process("score", "latest", "polite.yaml", "-j", "1")
        calls = len(provider.requests)
        while len(provider.requests) < calls + 6:
            time.sleep(0.02)
        command.send_signal(signal.SIGINT)
        provider.let_go()
        stdout, _ = command.communicate(timeout=30)
    assert command.returncode == 130
    [score_id, *_] = re.findall(r"score-\w{16}", stdout)
    assert len(list((greeted.store / "scores" / score_id).glob("*-0*.json"))) == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["latest", "nothing.yaml"], "nothing.yaml"),
        (["none-such", "polite.yaml"], "No batch"),
        (["--resume", "score-nothing"], "score"),
        (["latest", "--resume", "score-nothing"], "takes no BATCH"),
    ],
)
def test_what_is_not_there_is_a_sentence(greeted: UserProject, arguments: list[str], message: str) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run")
    shown = greeted.salvo("score", *arguments)
    assert shown.exit_code == 2
    assert message in shown.output


def test_a_credential_that_only_the_agent_uses_is_not_needed_to_score(greeted: UserProject) -> None:
    polite = POLITE.replace("assertions:", "adapter_options: {base_url: 'http://${NOWHERE}/v1'}\nassertions:")
    greeted.write("polite.yaml", polite)
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run")
        assert greeted.salvo("score", "latest", "polite.yaml").exit_code == 0


def test_scores_are_private_and_no_link_leads_out_of_the_store(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run")
        [score_id, *_] = re.findall(r"score-\w{16}", greeted.salvo("score", "latest", "polite.yaml").stdout)
    folder = greeted.store / "scores" / score_id
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
    header = folder / "score.json"
    elsewhere = greeted.folder / "elsewhere.json"
    header.rename(elsewhere)
    header.symlink_to(elsewhere)
    refused = greeted.salvo("report", score_id)
    assert refused.exit_code == 3
    assert "leads out of the store" in refused.output


def test_what_someone_else_put_among_the_scores_does_no_harm(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run")
        [score_id, *_] = re.findall(r"score-\w{16}", greeted.salvo("score", "latest", "polite.yaml").stdout)
    scores = greeted.store / "scores"
    (scores / "score-not an id!").mkdir()
    (scores / "score-empty").mkdir()
    (scores / score_id / "not an id!.json").write_text("{}")
    (scores / score_id / "0000000000000000-0001.json").write_text("[]")
    shown = greeted.salvo("report", "latest")
    assert (shown.exit_code, f"salvo report {score_id}" in shown.stdout) == (0, True)
    scored = greeted.salvo("report", score_id)
    assert scored.exit_code == 0
    assert "1 could not be read" in scored.stderr
    assert greeted.salvo("report", "score-empty").exit_code == 3


def test_files_are_written_as_by_run(greeted: UserProject) -> None:
    with LoopbackProvider(agent_and_judge(by_the_text)) as provider:
        greeted.reach(provider)
        greeted.salvo("run", "-n", "2", "-j", "1")
        greeted.salvo("score", "latest", "polite.yaml", "-o", "scores.xml", "-o", "scores.json")
    assert "3 of 3 votes failed it" in (greeted.folder / "scores.xml").read_text()
    [batch] = json.loads((greeted.folder / "scores.json").read_bytes())["batches"]
    assert [result["passed"] for result in batch["results"]] == [True, False]


def test_a_private_value_that_an_assertion_knows_is_not_stored_with_its_verdict(project: UserProject) -> None:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write(
        "look_up.py",
        """
        from salvo import EvalResult

        def check(scenario, assertion, result):
            return EvalResult(passed=False, score=0.0, message="not for Annabel Smith")
        """,
    )
    project.write(
        "scenarios/refund.yaml",
        """
        scenario: refund
        adapter: openai
        model: gpt-5.4-mini
        cases: [{id: late, customer: Annabel Smith}]
        private: [customer]
        user_message: "Refund {{ customer }}."
        assertions: [{type: custom, function: look_up.check}]
        """,
    )
    with LoopbackProvider(always(Say("Done."))) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1")
        scored = project.salvo("score", "latest", "scenarios/refund.yaml")
    assert "Stored as score-" in scored.stdout
    assert "not for [redacted: customer]" in project.everything_stored()
    assert "Annabel Smith" not in project.everything_stored() + scored.output
