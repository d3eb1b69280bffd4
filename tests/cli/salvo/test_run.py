"""`salvo run` as its user has it: the table, the exit codes, what is stored, and what money was spent on."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import Result
from inline_snapshot import snapshot

from tests.support.project import BIN, BOOK_FLIGHT, TOOLS, UserProject
from tests.support.provider import Answer, Fault, LoopbackProvider, ProviderRequest, Say, Use, UseTools, by_turn
from tests.support.wires import OPENAI_KEY

SEARCH = UseTools(Use("search_flights", {"origin": "SFO", "destination": "JFK"}))
BOOK = UseTools(Use("book_flight", {"flight_id": "B6-0916"}))
CONFIRM = UseTools(Use("get_booking_confirmation", {"booking_id": "BK-1"}))
DONE = Say('{"confirmation_id": "QWERTZ"}')
GOOD = by_turn(SEARCH, BOOK, CONFIRM, DONE)

# Failing only the confirmation scores 0.8 and passes at the document's threshold; at 0.9 it does not.
STRICT = BOOK_FLIGHT.replace("threshold: 0.8", "threshold: 0.9")


def sometimes(wrong: Answer, runs: set[int]) -> Callable[[ProviderRequest], Answer]:
    """The last answer of the given runs, in the order they get there, is another one."""
    reached = iter(range(1, 1000))
    return by_turn(SEARCH, BOOK, CONFIRM, lambda request: wrong if next(reached) in runs else DONE)


def results_of(ran: Result) -> list[dict[str, Any]]:
    """Every run of `--json`, in order."""
    return [result for batch in json.loads(ran.stdout)["batches"] for result in batch["results"]]


def tidy(text: str) -> str:
    """Without what differs every time: ids and durations."""
    text = re.sub(r"\b[0-9a-z]{16}-(\d{4})\b", r"RUN-\1", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", text)
    return re.sub(r"\b\d+(?:\.\d+)?m?s\b", "TIME", text)


def test_the_document_s_pitch_works_word_for_word(project: UserProject) -> None:
    with LoopbackProvider(sometimes(Say('{"confirmation_id": "booked!"}'), {3, 7})) as provider:
        project.reach(provider)
        project.write("scenarios/book_flight.yaml", STRICT)
        ran = project.salvo("run", "scenarios/book_flight.yaml", "--runs", "10", "--record", "-j", "1")
    assert tidy(ran.stdout) == snapshot("""\
book_flight  10/10 runs  pass-rate: 80%  avg-score: 0.96
─────────────────────────────────────────────────────────
tool_sequence      10/10 passed   (required)
confirmation_id     8/10 passed
cost_limit         10/10 passed   avg: $0.0039
latency_limit      10/10 passed   avg: TIME
─────────────────────────────────────────────────────────
2 failures recorded. Replay with:
  salvo replay RUN-0003
  salvo replay RUN-0007

verdict    failed: 8 of 10 completed runs passed (shown with 95% confidence: at most 98%); min_pass_rate is 100%
pass rate  80%, 95% interval 44% to 98%: 8 of 10 shows at least 44%
pass^k     1: 80% (44% to 98%)  3: 47% (8% to 93%)  5: 22% (1% to 89%)  (the chance that k runs all pass)
cost       $0.038, $0.0039 per run
latency    p50 TIME  p95 TIME  max TIME
identical  10 of 10 runs have the same calls and output as another
""")
    assert ran.exit_code == 1
    assert len(provider.requests) == 40


@pytest.mark.parametrize("adapter, model", [("openai", "gpt-5.4-mini"), ("anthropic", "claude-sonnet-4-6")])
def test_both_providers_run_the_same_scenario(project: UserProject, adapter: str, model: str) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        ran = project.salvo("run", "--adapter", adapter, "--model", model, "-n", "3", "--json")
    assert ran.exit_code == 0, ran.output
    assert {request.protocol for request in provider.requests} == {adapter}
    results = results_of(ran)
    assert [result["passed"] for result in results] == [True] * 3
    assert results[0]["final_output"] == {"confirmation_id": "QWERTZ"}
    assert results[0]["metrics"]["cost"] > 0


def test_the_store_has_the_document_s_layout(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "2", "--record")
    found = sorted(
        re.sub(r"[0-9a-z]{16}", "BATCH", str(file.relative_to(project.store)))
        for file in project.store.rglob("*")
        if file.is_file()
    )
    assert found == snapshot(
        [
            ".gitignore",
            "batches/.lock",
            "batches/BATCH.json",
            "history.jsonl",
            "recordings/BATCH-0001/request.json",
            "recordings/BATCH-0001/response.json",
            "recordings/BATCH-0002/request.json",
            "recordings/BATCH-0002/response.json",
            "runs/BATCH-0001.json",
            "runs/BATCH-0002.json",
        ]
    )
    lines = (project.store / "history.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["number"] for line in lines) == [1, 2]


@pytest.mark.parametrize(
    "script, code",
    [
        (GOOD, 0),
        (Say("I cannot do that."), 1),
        (Fault.unauthorized(), 3),
        (by_turn(SEARCH, Fault.unauthorized()), 3),
    ],
    ids=["passes", "fails", "provider", "provider-in-the-middle"],
)
def test_the_exit_code_tells_failing_from_not_judged(
    project: UserProject, script: Callable[[ProviderRequest], Answer], code: int
) -> None:
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        assert project.salvo("run", "-n", "2").exit_code == code


def test_a_provider_s_fault_is_no_failure_and_what_was_paid_for_is_kept(project: UserProject) -> None:
    with LoopbackProvider(by_turn(SEARCH, Fault.unauthorized())) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "1")
    stored = json.loads(project.runs()[0].read_text())
    assert (stored["outcome"], stored["cause"], stored["weighted_score"]) == ("error", "provider", None)
    assert [call["name"] for call in stored["tool_calls"]] == ["search_flights"]
    assert stored["metrics"]["cost"] > 0
    assert "Check the key (in the environment: OPENAI_API_KEY)" in stored["error"]
    assert "Check the key (in the environment: OPENAI_API_KEY)" in ran.stdout


def test_a_made_up_tool_and_bad_arguments_go_back_to_the_agent_and_are_its_own_affair(project: UserProject) -> None:
    wrong = UseTools(Use("fly", {}), Use("book_flight", {"flight": 1}), Use("book_flight", "{"))
    with LoopbackProvider(by_turn(wrong, SEARCH, BOOK, CONFIRM, DONE)) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1")
    stored = json.loads(project.runs()[0].read_text())
    assert stored["metrics"]["tool_errors"] == 3
    assert [result.content for result in provider.requests[1].tool_results] == snapshot(
        [
            "Error: There is no tool called 'fly'. There are: search_flights, book_flight, get_booking_confirmation.",
            "Error: The arguments do not fit: Additional properties are not allowed ('flight' was unexpected); 'flight_id' is a required property.",
            "Error: The arguments are not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1).",
        ]
    )
    assert stored["outcome"] == "failed", "the exact sequence decides"
    assert stored["cause"] == "assertion"


def test_the_turn_limit_fails_the_run_with_score_zero(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT + "max_turns: 3\n")
    with LoopbackProvider(SEARCH) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1")
    stored = json.loads(project.runs()[0].read_text())
    assert (stored["outcome"], stored["cause"], stored["weighted_score"]) == ("failed", "turn_limit", 0.0)
    assert len(provider.requests) == 3


def test_the_timeout_cancels_and_fails_the_run_and_keeps_its_trace(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT.replace("timeout: 30", "timeout: 1"))
    project.write("tools.py", TOOLS.replace('return {"booking_id": "BK-1"}', "import time; time.sleep(60)"))
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1", "--record")
    stored = json.loads(project.runs()[0].read_text())
    assert (stored["outcome"], stored["cause"], stored["weighted_score"]) == ("failed", "timeout", 0.0)
    assert [event["type"] for event in stored["trace"]] == ["model", "tool", "model"]
    assert project.salvo("replay", "latest").exit_code == 0


def test_waits_for_a_rate_limit_are_neither_latency_nor_timeout(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT.replace("timeout: 30", "timeout: 5"))
    first = [True]

    def limited(request: ProviderRequest) -> Answer:
        return Fault.rate_limited(retry_after=6) if first and first.pop() else SEARCH

    with LoopbackProvider(by_turn(limited, BOOK, CONFIRM, DONE)) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "1")
    stored = json.loads(project.runs()[0].read_text())
    assert stored["outcome"] == "passed", stored["error"]
    assert stored["metrics"]["latency"] < 5
    assert stored["metrics"]["retries"] == 1
    assert re.search("rate limited, retrying in [67] s", ran.stderr), "up to a tenth longer than requested"


def test_a_planted_key_is_nowhere_in_the_store(project: UserProject) -> None:
    other = "ghp_0123456789abcdefghijABCDEFGHIJ"
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT.replace("from SFO", f"from SFO ({OPENAI_KEY})"))
    project.write(
        "tools.py",
        f"def search_flights(origin: str, destination: str) -> str:\n    return 'token {other}'\n"
        f"def book_flight(flight_id: str): raise RuntimeError('{other}')\n"
        "def get_booking_confirmation(booking_id: str): return 1\n",
    )
    leak = UseTools(Use("search_flights", {"origin": other, "destination": json.dumps({"deep": OPENAI_KEY})}))
    with LoopbackProvider(by_turn(leak, BOOK, CONFIRM, Say(f"your key is {OPENAI_KEY}"))) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "2", "-j", "1", "--record")
    assert other in provider.requests[1].tool_results[0].content, "the agent itself sees the truth"
    stored = project.everything_stored() + ran.output
    assert OPENAI_KEY not in stored
    assert other not in stored
    assert "[redacted]" in stored
    assert project.salvo("replay", "latest").exit_code == 0


def test_a_pattern_for_numbers_leaves_what_we_measured_and_named_ourselves(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "2", "--record", "--redact", r"\d{4,}", "--json")
    assert ran.exit_code == 0, ran.output
    for result in results_of(ran):
        assert result["metrics"]["latency"] > 0
        assert result["tool_calls"][1]["arguments"] == {"flight_id": "B6-[redacted]"}
    replayed = project.salvo("replay", results_of(ran)[0]["run_id"])
    assert (replayed.exit_code, "Identical:" in replayed.stdout) == (0, True), replayed.output


def test_a_budget_stops_starting_runs_and_says_what_was_not_run(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "5", "-j", "1", "--max-cost", "0.0001")
    assert len(project.runs()) == 1
    assert "Of 5 runs: 4 not run." in ran.stdout
    assert "4 × not run: the budget of $0.0001 is spent" in ran.stdout
    assert (
        "verdict    open: 1 of 1 completed runs passed, and the verdict depends on the 4 without a result" in ran.stdout
    )
    assert ran.exit_code == 3, "what was not run is not known to pass"
    assert "open" in project.salvo("report").stdout


def test_x_stops_at_the_first_failure(project: UserProject) -> None:
    with LoopbackProvider(Say("no")) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "5", "-j", "1", "-x", "-o", "out.xml", "-o", "out.json")
        lenient = project.salvo("run", "-n", "5", "-j", "1", "-x", "--min-pass-rate", "0.1")
    assert len(project.runs()) == 2
    assert ran.exit_code == 1
    assert (
        "verdict    failed: 0 of 1 completed runs passed (shown with 95% confidence: at most 98%); min_pass_rate is 100%, whatever"
        in ran.stdout
    )
    assert lenient.exit_code == 1, "who stops at a failure has one"
    assert "verdict    open" in lenient.stdout
    assert_the_same_is_told(project, "not_run", "stop_first", 4, "not run: a run failed, and -x stops at the first")
    assert "4 × not run: a run failed, and -x stops at the first" in ran.stdout


def assert_the_same_is_told(project: UserProject, outcome: str, cause: str, count: int, reason: str) -> None:
    """In out.json and in out.xml."""
    [batch] = json.loads((project.folder / "out.json").read_text())["batches"]
    told = {(group["outcome"], group["cause"]): group["count"] for group in batch["not_made"]}
    assert told[outcome, cause] == batch[outcome] == count
    root = ET.parse(project.folder / "out.xml").getroot()  # noqa: S314 - a file of our own
    assert [skipped.get("message") for skipped in root.iter("skipped")].count(reason) == count


def test_runs_go_out_together_within_the_limit(project: UserProject) -> None:
    with LoopbackProvider(GOOD, latency=0.05) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "8", "-j", "4")
    assert provider.most_at_once == 4


def test_a_folder_runs_every_scenario_below_it_and_k_picks_by_name(project: UserProject) -> None:
    project.write("scenarios/more/refund.yaml", BOOK_FLIGHT.replace("scenario: book_flight", "scenario: refund"))
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        assert len(results_of(project.salvo("run", "-n", "1", "--json"))) == 2
        assert len(results_of(project.salvo("run", "-n", "1", "--json", "-k", "refund"))) == 1
        assert project.salvo("run", "-k", "nothing").exit_code == 5


def test_outputs_are_written_by_suffix(project: UserProject) -> None:
    with LoopbackProvider(sometimes(Say("no"), {2})) as provider:
        project.reach(provider)
        project.write("scenarios/book_flight.yaml", STRICT)
        project.salvo("run", "-n", "2", "-j", "1", "-o", "out.json", "-o", "out.jsonl", "-o", "out.xml")
    kinds = [json.loads(line)["kind"] for line in (project.folder / "out.jsonl").read_text().splitlines()]
    assert kinds == ["batch", "run", "run"]
    suite = ET.parse(project.folder / "out.xml").getroot()  # noqa: S314 - a file of our own
    assert len(suite.findall(".//failure")) == 1
    assert json.loads((project.folder / "out.json").read_text())


def test_an_invalid_file_costs_nothing_and_names_line_and_field(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT.replace("model:", "modle:").replace("regex", "regexp"))
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        ran = project.salvo("run")
    assert ran.exit_code == 2
    assert provider.requests == []
    assert ran.stderr == snapshot("""\
Error: scenarios/book_flight.yaml:3:1: modle: no such field; did you mean "model"?
scenarios/book_flight.yaml:29:5: assertions[1].operator: must be one of eq, ne, gt, gte, lt, lte, contains, regex, exists, not_empty; did you mean "regex"?
""")


@pytest.mark.parametrize(
    "option, value, said",
    [
        ("--runs", "100001", "--runs must be at most 100,000"),
        ("--adapter", "", "--adapter must not be empty"),
        ("--max-cost", "nan", "'--max-cost': nan is not a number"),
        ("--min-pass-rate", "nan", "'--min-pass-rate': nan is not a number"),
        ("--confidence", "nan", "'--confidence': nan is not a number"),
        ("--threshold", "1.01", "not in the range"),
    ],
)
def test_an_option_that_no_scenario_could_have_is_refused_before_anything_is_run(
    project: UserProject, option: str, value: str, said: str
) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        ran = project.salvo("run", option, value)
    assert (ran.exit_code, said in ran.stderr) == (2, True), ran.stderr
    assert provider.requests == []


def test_an_unwritable_store_is_said_before_money_is_spent(project: UserProject) -> None:
    (project.store / "runs").write_text("a file where a folder must be")
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        ran = project.salvo("run")
    assert ran.exit_code == 3
    assert provider.requests == []


def test_a_crash_loses_only_what_was_in_flight_and_resume_does_the_rest(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        provider.hold(after=15)  # three runs of four calls, and three calls of the two runs that are then in flight
        process = project.process("run", "-n", "12", "-j", "2")
        while len(project.runs()) < 3 or len(provider.requests) < 17:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.kill()
        process.communicate()
        provider.let_go()
        done = {file.name for file in project.runs()}
        assert len(done) == 3
        for file in project.runs():
            assert json.loads(file.read_text())["outcome"] == "passed"
        request = len(provider.requests)
        assert project.salvo("report").stdout.rstrip().endswith("open")
        ran = project.salvo("run", "--resume", "latest")
    assert ran.exit_code == 0, ran.output
    assert len(project.runs()) == 12
    assert "12/12 runs" in ran.stdout
    assert len(provider.requests) - request == 4 * (12 - len(done)), "only the missing ones"
    [named] = [line for line in ran.stderr.splitlines() if line.startswith("An earlier command ended")]
    run_ids = named.rpartition(": ")[2].split(", ")
    assert len(run_ids) == 2, "those that were in flight"
    assert not {f"{run_id}.json" for run_id in run_ids} & done
    assert not list((project.store / "batches" / ".started").iterdir()), "all of them have ended"


@pytest.mark.usefixtures("coverage_in_processes")
@pytest.mark.parametrize(
    "number, reason", [(signal.SIGINT, "Ctrl-C was pressed"), (signal.SIGTERM, "SIGTERM was received")]
)
def test_ctrl_c_and_sigterm_save_what_had_finished_and_exit_130(
    project: UserProject, number: signal.Signals, reason: str
) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        provider.hold(after=15)  # three runs of four calls, and three calls of the two runs that are then in flight
        process = project.process("run", "-n", "50", "-j", "2", "-o", "out.xml", "-o", "out.json")
        while len(project.runs()) < 3 or len(provider.requests) < 17:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
        provider.let_go()
    assert process.returncode == 130, err
    assert "salvo run --resume" in out
    assert "Traceback" not in err
    assert len(project.runs()) == 3
    assert "verdict    open" in out
    assert f"2 × interrupted: {reason}" in out
    assert_the_same_is_told(project, "not_run", "interrupted", 45, f"not run: {reason}")
    assert_the_same_is_told(project, "interrupted", "interrupted", 2, f"interrupted: {reason}")


@pytest.mark.usefixtures("coverage_in_processes")
@pytest.mark.parametrize("batch", ["latest", "id"])
def test_a_batch_that_another_process_runs_is_not_resumed_and_its_owner_is_named(
    project: UserProject, batch: str
) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        provider.hold()
        first = project.process("run", "-n", "2")
        while not provider.requests:
            assert first.poll() is None, first.communicate()
            time.sleep(0.01)
        [file] = (project.store / "batches").glob("*.json")
        second = project.process("run", "--resume", file.stem if batch == "id" else "latest")
        _, err = second.communicate(timeout=30)
        assert second.returncode == 2, err
        assert f"The runs of the batch {file.stem} are being made by process {first.pid} on " in err
        provider.let_go()
        first.communicate(timeout=30)
        asked = len(provider.requests)
        ran = project.salvo("run", "--resume", "latest")
    assert "Nothing is missing" in ran.stderr
    assert (first.returncode, len(project.runs()), len(provider.requests)) == (0, 2, asked)
    assert not list((project.store / "batches").glob(".*.owner"))


def test_two_processes_may_write_the_same_store(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        both = [project.process("run", "-n", "15", "--record") for _ in range(2)]
        for process in both:
            _, err = process.communicate(timeout=60)
            assert process.returncode == 0, err
    assert len(project.runs()) == 30
    listed = json.loads(project.salvo("report", "--last", "2", "--json").stdout)
    assert json.dumps(listed).count('"batch_id"') >= 2


def test_an_adapter_of_the_user_s_own_is_found_beside_the_scenario(project: UserProject) -> None:
    project.write(
        "scenarios/mine.py",
        """
        from salvo import AdapterRequest, AdapterResponse, BaseAdapter

        class Mine(BaseAdapter):
            async def run(self, request: AdapterRequest) -> AdapterResponse:
                model = self.context.chat_model("openai/gpt-5.4-mini")
                found = await self.context.toolbox.call("search_flights", {"origin": "A", "destination": "B"})
                return AdapterResponse({"found": len(found.result), "seed": request.seed})

        def answer(request):
            return {"echo": request.user_message.strip()}

        async def crash(request):
            return {}["missing"]
        """,
    )
    common = "user_message: hello\nseed: 5\nruns: 2\nassertions:\n  - {type: jmespath, path: final_output, operator: exists}\n"
    project.write("scenarios/a.yaml", "scenario: own\nadapter: mine:Mine\ntools: [search_flights]\n" + common)
    project.write("scenarios/b.yaml", "scenario: function\nadapter: function:mine.answer\n" + common)
    project.write("scenarios/c.yaml", "scenario: crash\nadapter: function:mine.crash\n" + common)
    ran = project.salvo("run", "scenarios", "-k", "own", "--json", "--record")
    assert [(result["final_output"], result["replayable"]) for result in results_of(ran)] == [
        ({"found": 2, "seed": 5}, "frozen-tools"),
        ({"found": 2, "seed": 6}, "frozen-tools"),
    ]
    assert project.salvo("replay", "latest").exit_code == 0
    [first, _] = results_of(project.salvo("run", "scenarios", "-k", "function", "--json", "--record"))
    assert (first["final_output"], first["replayable"]) == ({"echo": "hello"}, "no")
    assert "Reconstructed" in project.salvo("replay", "latest").stdout
    crashed = project.salvo("run", "scenarios", "-k", "crash", "--json")
    assert crashed.exit_code == 3
    assert results_of(crashed)[0]["error"] == "KeyError: 'missing' (mine.py, line 13)"


def test_no_color_and_pipes_get_plain_text(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        process = project.process("run", "-n", "1")
        out, err = process.communicate(timeout=30)
    assert "\x1b" not in out + err
    assert "1/1 runs done" in err


def test_the_batch_file_is_there_before_the_first_call(project: UserProject) -> None:
    def check(request: ProviderRequest) -> Answer:
        [batch] = (project.store / "batches").glob("*.json")
        assert json.loads(batch.read_text())["scenario"]["scenario"] == "book_flight"
        return DONE

    with LoopbackProvider(check) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1")


def test_an_empty_home_and_any_folder_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    made = UserProject(tmp_path / "work", monkeypatch)
    os.makedirs(made.folder)  # noqa: PTH103 - the parents too, in one go
    assert made.salvo("init", "demo").exit_code == 0
    demo = UserProject(made.folder / "demo", monkeypatch)
    ran = demo.salvo("run", "--record")
    assert ran.exit_code == 1, ran.output
    assert tidy(ran.stdout) == snapshot("""\
book_flight  10/10 runs  pass-rate: 80%  avg-score: 0.80
─────────────────────────────────────────────────────────
tool_sequence       9/10 passed   (required)
cheapest            9/10 passed   (required)
confirmation_id     9/10 passed
latency_limit      10/10 passed   avg: TIME
─────────────────────────────────────────────────────────
2 failures recorded. Replay with:
  salvo replay RUN-0006
  salvo replay RUN-0009

verdict    failed: 8 of 10 completed runs passed (observed; not shown: the runs are compatible with 98%); min_pass_rate is 90%
pass rate  80%, 95% interval 44% to 98%: 8 of 10 shows at least 44%
pass^k     1: 80% (44% to 98%)  3: 47% (8% to 93%)  5: 22% (1% to 89%)  (the chance that k runs all pass)
cost       unknown
latency    p50 TIME  p95 TIME  max TIME
identical  8 of 10 runs have the same calls and output as another
""")
    failed = re.search(r"salvo replay (\S+)", ran.stdout)
    assert failed is not None
    shown = demo.salvo("replay", failed.group(1))
    assert shown.exit_code == 0
    assert "Identical" in shown.stdout
    assert "kept" in demo.salvo("init").stdout


def test_a_store_that_fails_in_the_middle_stops_the_spending_and_shows_what_was_paid_for(project: UserProject) -> None:
    def fill_the_disk(request: ProviderRequest) -> Answer:
        shutil.rmtree(project.store / "runs")
        (project.store / "runs").write_text("no room")
        return DONE

    with LoopbackProvider(by_turn(SEARCH, BOOK, CONFIRM, fill_the_disk)) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "3", "-j", "1")
    assert ran.exit_code == 3
    assert len(provider.requests) == 4
    assert "results cannot be stored" in ran.stdout
    assert "cost       $" in ran.stdout


def test_a_budget_that_cannot_be_counted_says_so(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "2", "--model", "house-model", "--max-cost", "1")
    notice = "--max-cost does not count every call: the cost of openai/house-model is not known."
    assert ran.stderr.count(notice) == 1


def test_no_color_is_honoured_on_a_terminal_too(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1")
        command = f"{BIN / 'salvo'} report latest"
        shown = {
            no_color: subprocess.run(
                ["script", "-qec", command, "/dev/null"],
                cwd=project.folder,
                env={**os.environ, **project.environ, "TERM": "xterm", "NO_COLOR": no_color},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for no_color in ("", "1")
        }
    assert "\x1b[" in shown[""]
    assert "\x1b[" not in shown["1"]


def test_a_conversation_that_no_longer_fits_the_model_fails_the_run(project: UserProject) -> None:
    with LoopbackProvider(by_turn(SEARCH, Fault.context_too_long())) as provider:
        project.reach(provider)
        [result] = results_of(project.salvo("run", "-n", "1", "--json"))
    assert (result["outcome"], result["cause"], result["weighted_score"]) == ("failed", "context", 0.0)
    assert [event["type"] for event in result["trace"]] == ["model", "tool", "context"]


def test_a_refusal_is_judged_by_the_assertions_and_named_as_the_cause(project: UserProject) -> None:
    with LoopbackProvider(Say("I cannot do that.", stop="refusal")) as provider:
        project.reach(provider)
        [result] = results_of(project.salvo("run", "-n", "1", "--json"))
        assert (result["outcome"], result["cause"]) == ("failed", "refusal")
        project.write(
            "scenarios/book_flight.yaml",
            BOOK_FLIGHT[: BOOK_FLIGHT.index("assertions:")]
            + "assertions:\n  - {type: jmespath, path: final_output, operator: contains, value: cannot}\n",
        )
        [result] = results_of(project.salvo("run", "-n", "1", "--json"))
        assert (result["outcome"], result["cause"]) == ("passed", None), "a scenario may want a refusal"


def test_a_canned_fault_reaches_the_agent_in_its_own_words(project: UserProject) -> None:
    project.write(
        "scenarios/book_flight.yaml",
        BOOK_FLIGHT[: BOOK_FLIGHT.index("tools:")]
        + "tools:\n  - name: search_flights\n    responses: [{error: '503: busy'}, {result: found}]\n"
        + "assertions: [{type: latency_limit, max_seconds: 15}]\n",
    )
    with LoopbackProvider(by_turn(SEARCH, SEARCH, DONE)) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1")
    assert [request.tool_results[0].content for request in provider.requests[1:]] == ["Error: 503: busy", "found"]


@pytest.mark.parametrize(
    "code, error",
    [
        (
            "class Mine(BaseAdapter):\n    async def run(self, request): return 'text'",
            "returned str, not AdapterResponse",
        ),
        (
            "class Mine(BaseAdapter):\n    async def run(self, request): raise TimeoutError('mine')",
            "TimeoutError: mine",
        ),
    ],
)
def test_an_adapter_s_own_bugs_are_errors_that_name_the_line(project: UserProject, code: str, error: str) -> None:
    project.write("mine.py", f"from salvo import BaseAdapter\n{code}\n")
    project.write(
        "scenarios/mine.yaml",
        "scenario: mine\nadapter: mine:Mine\nuser_message: go\n"
        "assertions: [{type: jmespath, path: final_output, operator: exists}]\n",
    )
    ran = project.salvo("run", "scenarios/mine.yaml", "--json")
    [result] = results_of(ran)
    assert (ran.exit_code, result["cause"]) == (3, "adapter")
    assert error in result["error"]


def test_a_function_may_hand_back_something_to_wait_for(project: UserProject) -> None:
    project.write("mine.py", "async def later(request): return 'done'\ndef now(request): return later(request)\n")
    project.write(
        "scenarios/mine.yaml",
        "scenario: mine\nadapter: function:mine.now\nuser_message: go\n"
        "assertions: [{type: jmespath, path: final_output, operator: eq, value: done}]\n",
    )
    assert project.salvo("run", "scenarios/mine.yaml").exit_code == 0


def test_a_rate_limit_while_judging_is_waited_for_like_any_other(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT + "  - {type: llm_judge, rubric: polite}\n")
    first = [True]

    def judged(request: ProviderRequest) -> Answer:
        if "rubric" not in request.last_user.lower():
            return GOOD(request)
        return (
            Fault.rate_limited(retry_after_ms=50) if first and first.pop() else Say('{"passed": true, "reason": "x"}')
        )

    with LoopbackProvider(judged) as provider:
        project.reach(provider)
        [result] = results_of(project.salvo("run", "-n", "1", "--json"))
    assert result["outcome"] == "passed", result["error"]


def test_waits_of_calls_that_wait_together_are_taken_out_once(project: UserProject) -> None:
    project.write(
        "mine.py",
        """
        import asyncio
        from salvo import AdapterResponse, BaseAdapter
        from salvo.engine.chat.base import ChatRequest, UserMessage

        class Mine(BaseAdapter):
            async def run(self, request):
                model = self.context.chat_model("openai/gpt-5.4-mini")
                ask = [model.complete(ChatRequest((UserMessage(str(i)),), lane=str(i))) for i in range(3)]
                await asyncio.gather(*ask)
                return AdapterResponse("done")
        """,
    )
    project.write(
        "scenarios/mine.yaml",
        "scenario: mine\nadapter: mine:Mine\nuser_message: go\nassertions: [{type: latency_limit, max_seconds: 9}]\n",
    )
    limits = iter([Fault.rate_limited(retry_after=1)] * 3)
    with LoopbackProvider(lambda request: next(limits, Say("hi"))) as provider:
        project.reach(provider)
        [result] = results_of(project.salvo("run", "scenarios/mine.yaml", "--json"))
    assert result["metrics"]["latency"] >= 0


@pytest.mark.usefixtures("coverage_in_processes")
def test_code_that_never_returns_does_not_keep_the_command(project: UserProject) -> None:
    project.write("mine.py", "import time\ndef hang(request): time.sleep(1000)\n")
    project.write(
        "scenarios/mine.yaml",
        "scenario: mine\nadapter: function:mine.hang\nuser_message: go\ntimeout: 0.3\n"
        "assertions: [{type: latency_limit, max_seconds: 9}]\n",
    )
    process = project.process("run", "scenarios/mine.yaml", "-n", "3")
    out, err = process.communicate(timeout=30)
    assert process.returncode == 1, err
    assert "0/3 passed" in out or "timed out" in out


def test_many_slow_functions_run_at_once_without_a_queue_of_ours(project: UserProject) -> None:
    project.write(
        "mine.py",
        "import threading\nall = threading.Barrier(40, timeout=20)\ndef meet(request):\n    all.wait()\n    return 1\n",
    )
    project.write(
        "scenarios/mine.yaml",
        "scenario: mine\nadapter: function:mine.meet\nuser_message: go\ntimeout: 30\n"
        "assertions: [{type: jmespath, path: final_output, operator: eq, value: 1}]\n",
    )
    assert project.salvo("run", "scenarios/mine.yaml", "-n", "40", "-j", "40").exit_code == 0, "all of them meet"


@pytest.mark.parametrize(
    "code",
    [
        "def __init__(self): raise ValueError('made wrong')\n    async def run(self, request): ...",
        "async def run(self, request): return AdapterResponse({'a': object()})",
        "async def run(self, request): return AdapterResponse('x', metrics=None)",
        "async def run(self, request): raise asyncio.CancelledError",
        "async def run(self, request): raise SystemExit(7)",
        "async def run(self, request): raise StopIteration",
    ],
)
def test_whatever_an_adapter_does_wrong_is_an_error_of_that_run_alone(project: UserProject, code: str) -> None:
    project.write(
        "mine.py",
        f"import asyncio\nfrom salvo import AdapterResponse, BaseAdapter\nclass Mine(BaseAdapter):\n    {code}\n",
    )
    project.write(
        "scenarios/mine.yaml",
        "scenario: mine\nadapter: mine:Mine\nuser_message: go\nassertions: [{type: latency_limit, max_seconds: 9}]\n",
    )
    ran = project.salvo("run", "scenarios/mine.yaml", "-n", "2", "--json")
    assert ran.exit_code == 3, ran.output
    assert [(result["outcome"], result["cause"]) for result in results_of(ran)] == [("error", "adapter")] * 2


def test_resume_goes_on_with_what_was_asked_and_as_privately(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT.replace("from SFO", f"from SFO ({OPENAI_KEY}, ACME-4711)"))
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "2", "-j", "1", "--max-cost", "0.0001", "--record", "--redact", r"ACME-\d+")
        assert project.salvo("run", "--resume", "latest").exit_code == 0
        assert OPENAI_KEY in provider.requests[-1].last_user, "the agent is asked what the others were asked"
        assert "ACME-4711" not in project.everything_stored()
        assert project.salvo("run", "--resume", "latest", "-n", "9").exit_code == 2
        project.write("scenarios/book_flight.yaml", BOOK_FLIGHT)
        complete = project.salvo("run", "--resume", "latest")
        assert "Nothing is missing" in complete.stderr
        assert complete.exit_code == 0, "what is complete needs no scenario"
        lose_a_run(project)
        changed = project.salvo("run", "--resume", "latest")
    assert changed.exit_code == 2
    assert "has changed since the batch" in changed.stderr


def lose_a_run(project: UserProject) -> None:
    lost = project.runs()[-1]
    lost.unlink()
    shutil.rmtree(project.store / "recordings" / lost.stem, ignore_errors=True)


def test_resume_refuses_a_tool_that_has_changed(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "2")
        lose_a_run(project)
        project.write("tools.py", "# a comment, and another price\n" + TOOLS.replace("212", "213"))
        request = len(provider.requests)
        changed = project.process("run", "--resume", "latest")
        _, err = changed.communicate(timeout=30)
        assert changed.returncode == 2
        assert "The tool search_flights has changed since the batch" in err
        assert len(provider.requests) == request
        project.write("tools.py", "# only a comment\n" + TOOLS)
        commented = project.process("run", "--resume", "latest")
        commented.communicate(timeout=30)
        assert commented.returncode == 0


def test_resume_latest_goes_on_with_every_scenario_of_the_command(project: UserProject) -> None:
    refund = BOOK_FLIGHT.replace("scenario: book_flight", "scenario: refund")
    project.write("scenarios/refund.yaml", refund)
    project.write("scenarios/whole.yaml", refund.replace("scenario: refund", "scenario: whole"))
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1", "-k", "book")
        stopped = project.salvo("run", "-n", "2", "-j", "1")
        assert stopped.exit_code == 0, stopped.output
        lost = [run for run in project.runs() if run.stem.endswith("-0002")][:2]
        for run in lost:
            run.unlink()
        # One that is whole takes part in the verdict, but its scenario is not needed any more.
        project.write("scenarios/whole.yaml", "scenario: whole\n")
        request = len(provider.requests)
        resumed = project.salvo("run", "--resume", "latest", "--json")
        assert resumed.exit_code == 0, resumed.output
        assert len(provider.requests) - request == 2 * 4, "the two that were missing"
    assert all(run.is_file() for run in lost)
    batches = json.loads(resumed.stdout)["batches"]
    assert {batch["scenario_id"]: batch["completed"] for batch in batches} == {
        "book_flight": 2,
        "refund": 2,
        "whole": 2,
    }


def test_a_batch_of_an_older_version_goes_on_alone(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "2")
        [file] = (project.store / "batches").glob("*.json")
        older = json.loads(file.read_text())
        del older["command"]
        file.write_text(json.dumps(older))
        lose_a_run(project)
        assert project.salvo("run", "--resume", "latest").exit_code == 0
    assert len(project.runs()) == 2


def test_an_output_that_cannot_be_written_is_said_before_money_is_spent(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        assert project.salvo("run", "-o", "nowhere/out.xml").exit_code == 2
    assert provider.requests == []


def test_a_folder_without_scenarios_is_nothing_collected(project: UserProject) -> None:
    (project.folder / "empty").mkdir()
    assert project.salvo("run", "empty").exit_code == 5


def test_ctrl_c_ends_a_command_whose_evaluator_never_returns(project: UserProject) -> None:
    project.write(
        "mine.py",
        "import pathlib, time\ndef answer(request): return 1\n"
        "def hang(scenario, assertion, result):\n    pathlib.Path('here').touch()\n    time.sleep(1000)\n",
    )
    project.write(
        "scenarios/mine.yaml",
        "scenario: mine\nadapter: function:mine.answer\nuser_message: go\n"
        "assertions: [{type: custom, function: mine.hang}]\n",
    )
    process = project.process("run", "scenarios/mine.yaml")
    while not (project.folder / "here").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err


@pytest.mark.parametrize(
    "returned, output",
    [("{'x': float('nan')}", {"x": "NaN"}), ("'[NaN]'", "[NaN]"), ("(1, {2})", [1, [2]])],
    ids=["a number that is none", "text that is no JSON", "other containers"],
)
def test_an_output_is_judged_stored_and_reported_as_json(project: UserProject, returned: str, output: object) -> None:
    project.write(
        "mine.py",
        f"def answer(request): return {returned}\n"
        f"def same(scenario, assertion, result): return result.final_output == {output!r}\n",
    )
    project.write(
        "scenarios/mine.yaml",
        "scenario: mine\nadapter: function:mine.answer\nuser_message: go\n"
        "assertions: [{type: custom, function: mine.same}]\n",
    )
    assert project.salvo("run", "scenarios/mine.yaml", "--record").exit_code == 0
    for file in [*project.runs(), *(project.store / "recordings").rglob("*.json")]:
        json.loads(file.read_text(), parse_constant=pytest.fail)
    stored = json.loads(project.salvo("report", project.runs()[0].stem, "--json").stdout)
    assert stored["final_output"] == output
    assert project.salvo("replay", "latest", "--re-eval").exit_code == 0


@pytest.mark.parametrize("depth", [390, 400, 401, 500])
def test_a_deeply_nested_reply_is_kept_and_replayed(project: UserProject, depth: int) -> None:
    arguments: dict[str, Any] = {}
    for _ in range(depth - 8):
        arguments = {"origin": arguments}
    deep = UseTools(Use("search_flights", arguments), Use("fly", {"x": 1}))
    with LoopbackProvider(by_turn(deep, BOOK, Say("[" * depth + "]" * depth))) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1", "--record")
        project.salvo("run", "-n", "1", "--record", "--adapter", "anthropic", "--model", "claude-sonnet-4-6")
    project.environ = {}
    assert len(project.runs()) == 2
    for run in project.runs():
        assert project.salvo("report", run.stem).exit_code == 0
        replayed = project.salvo("replay", run.stem)
        assert replayed.exit_code == 0, replayed.output


def test_a_tool_s_odd_number_is_told_stored_and_replayed_alike(project: UserProject) -> None:
    project.write("tools.py", "def search_flights(origin: str, destination: str): return {'price': float('inf')}\n")
    project.write(
        "scenarios/book_flight.yaml",
        BOOK_FLIGHT[: BOOK_FLIGHT.index("tools:")]
        + "tools: [search_flights]\n"
        + "assertions: [{type: latency_limit, max_seconds: 15}]\n",
    )
    with LoopbackProvider(by_turn(SEARCH, DONE)) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1", "--record")
    assert provider.requests[1].tool_results[0].content == '{"price":"Infinity"}'
    project.environ = {}
    assert project.salvo("replay", "latest").exit_code == 0


@pytest.mark.parametrize(
    "code, error",
    [
        ("return AdapterResponse('x', trace=[TraceEvent(5)])", "trace.0.type: Input should be a valid string"),
        ("return AdapterResponse('x', metrics=RunMetrics(cost=float('nan')))", "metrics.cost: nan is no amount"),
        ("return AdapterResponse([object()])", "JSON has no form for object"),
        ("x = []; x.append(x); return AdapterResponse(x)", "Circular reference"),
    ],
)
def test_what_an_adapter_returns_and_nobody_could_read_again_is_its_error(
    project: UserProject, code: str, error: str
) -> None:
    project.write(
        "mine.py",
        "from salvo import AdapterResponse, BaseAdapter, RunMetrics, TraceEvent\n"
        f"class Mine(BaseAdapter):\n    async def run(self, request): {code}\n",
    )
    project.write(
        "scenarios/mine.yaml",
        "scenario: mine\nadapter: mine:Mine\nuser_message: go\nassertions: [{type: latency_limit, max_seconds: 9}]\n",
    )
    [result] = results_of(project.salvo("run", "scenarios/mine.yaml", "--json"))
    assert result["cause"] == "adapter"
    assert f"What the adapter returned cannot be stored: {error}" in result["error"]


def test_a_tool_asked_with_what_is_no_json_answers_with_an_error(project: UserProject) -> None:
    project.write(
        "mine.py",
        "from salvo import AdapterResponse, BaseAdapter\n"
        "class Mine(BaseAdapter):\n    async def run(self, request):\n"
        "        return AdapterResponse((await self.context.toolbox.call('search_flights', {'x': object()})).error)\n",
    )
    project.write(
        "scenarios/mine.yaml",
        "scenario: mine\nadapter: mine:Mine\nuser_message: go\ntools: [search_flights]\n"
        "assertions: [{type: jmespath, path: final_output, operator: contains, value: no form for object}]\n",
    )
    assert project.salvo("run", "scenarios/mine.yaml", "--record").exit_code == 0
    assert project.salvo("replay", "latest").exit_code == 0


def test_an_evaluator_that_never_ends_is_an_error_and_the_others_stand(project: UserProject) -> None:
    project.write(
        "mine.py",
        "import asyncio\ndef answer(request): return 1\n"
        "async def hang(scenario, assertion, result): await asyncio.sleep(1000)\n",
    )
    project.write(
        "scenarios/mine.yaml",
        "scenario: mine\nadapter: function:mine.answer\nuser_message: go\ntimeout: 0.2\n"
        "assertions: [{type: custom, function: mine.hang}, {type: jmespath, path: final_output, operator: exists}]\n",
    )
    ran = project.salvo("run", "scenarios/mine.yaml", "--json")
    [result] = results_of(ran)
    assert (ran.exit_code, result["outcome"], result["cause"]) == (3, "error", "evaluator")
    assert result["error"] == "mine.hang was stopped after 0.2 s, the scenario's timeout."
    assert [of["passed"] for of in result["eval_results"]] == [None, True]


def test_the_first_run_of_a_store_keeps_runs_out_of_git_and_a_later_one_leaves_that_to_the_user(
    project: UserProject,
) -> None:
    file = project.store / ".gitignore"
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1")
        assert "runs/\nbatches/\n" in file.read_text()
        file.unlink()
        project.salvo("run", "-n", "1")
    assert not file.exists()


RETURNS = """
from salvo import AdapterResponse, BaseAdapter

class Agent(BaseAdapter):
    async def run(self, request):
        return AdapterResponse({returned})
"""
ANY_OUTPUT = """
scenario: output
adapter: agent:Agent
user_message: Go.
assertions:
  - {{type: jmespath, path: {path}, operator: contains, value: "{value}"}}
"""


@pytest.mark.parametrize(
    "returned, text",
    [
        ("{'seat': [1, None]}", '{"seat":[1,null]}'),
        ("'{\"seat\": 1}'", '{"seat": 1}'),
        ("'words'", "words"),
        ("7", "7"),
    ],
)
def test_the_final_text_is_the_text_of_any_output(project: UserProject, returned: str, text: str) -> None:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    project.write("agent.py", RETURNS.format(returned=returned))
    project.write("scenarios/output.yaml", ANY_OUTPUT.format(path="final_text", value=text[-1].replace('"', "")))
    project.salvo("run")
    assert json.loads(project.runs()[0].read_text())["final_text"] == text


@pytest.mark.parametrize("options", [[], ["--record"], ["--record", "--record-max-bytes", "1000"]])
@pytest.mark.parametrize(
    "answer", ["lorem ipsum " * 200_000, json.dumps({"text": "lorem " * 200_000})], ids=["text", "json"]
)
def test_a_large_answer_is_stored_once_and_read_whole(project: UserProject, answer: str, options: list[str]) -> None:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    scenario = ANY_OUTPUT.format(path="final_text", value="lorem").replace("agent:Agent", "openai\nmodel: gpt-5.4-mini")
    project.write("scenarios/output.yaml", scenario)
    with LoopbackProvider(Say(answer)) as provider:
        project.reach(provider)
        ran = project.salvo("run", "--json", *options)
    [result] = results_of(ran)
    assert (result["outcome"], result["final_text"], result["trace"][0]["data"]["text"]) == ("passed", answer, answer)
    assert result["final_output"] == (json.loads(answer) if answer.startswith("{") else answer)
    assert sum(file.stat().st_size for file in project.store.rglob("*.json")) < 1.2 * len(answer)
    assert json.loads(project.salvo("report", result["run_id"], "--json").stdout) == result
    assert project.salvo("replay").exit_code == (0 if options else 2)
    assert project.salvo("report", "latest", "--html", "x.html").exit_code == 0
    if options:
        shutil.rmtree(project.store / "runs")
        recorded = json.loads(project.salvo("report", result["run_id"], "--json").stdout)
        assert recorded == result, "a recording is self-contained"


def test_a_large_answer_whose_recording_is_missing_or_damaged_is_a_sentence(project: UserProject) -> None:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    scenario = ANY_OUTPUT.format(path="final_text", value="lorem").replace("agent:Agent", "openai\nmodel: gpt-5.4-mini")
    project.write("scenarios/output.yaml", scenario)
    with LoopbackProvider(Say("lorem ipsum " * 1000)) as provider:
        project.reach(provider)
        project.salvo("run", "--record")
    [file] = project.store.glob("recordings/*/response.json")
    response = json.loads(file.read_text())
    for path in ([0, "body", "json", "choices", -1], [7], "body", [0, "body", "json"], [True]):
        file.write_text(json.dumps({**response, "answer": path}))
        shown = project.salvo("report", file.parent.name)
        assert (shown.exit_code, "its replies do not have the answer" in shown.stderr) == (3, True), shown.stderr
    shutil.rmtree(file.parent)
    shown = project.salvo("report", file.parent.name)
    assert (shown.exit_code, "is in its recording, which is missing." in shown.stderr) == (3, True), shown.stderr
    assert "1/1 runs" in project.salvo("report", file.parent.name.rpartition("-")[0]).stdout
