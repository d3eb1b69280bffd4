"""`salvo replay`: the same agent code on what was recorded, with everything else switched off."""

import json
import re
import shutil

import pytest
from inline_snapshot import snapshot

from tests.cli.salvo.test_run import BOOK, CONFIRM, DONE, GOOD, SEARCH, tidy
from tests.support.project import BOOK_FLIGHT, TOOLS, UserProject
from tests.support.provider import Answer, Fault, LoopbackProvider, ProviderRequest, Say, Use, UseTools, by_turn

BROKEN_TOOLS = """
def search_flights(origin: str, destination: str): raise RuntimeError("executed")
def book_flight(flight_id: str): raise RuntimeError("executed")
def get_booking_confirmation(booking_id: str): raise RuntimeError("executed")
"""

JUDGED = (
    BOOK_FLIGHT
    + """
  - type: llm_judge
    name: polite
    rubric: The answer is polite.
    model: anthropic/claude-haiku-4-5
"""
)


def agent_and_judge(verdicts: str = "yyy") -> Answer:
    votes = iter(verdicts * 100)

    def answer(request: ProviderRequest) -> Answer:
        if request.protocol == "anthropic":
            return Say(json.dumps({"passed": next(votes) == "y", "reason": "it says please"}))
        return GOOD(request)

    return answer  # type: ignore[return-value]  # a script is a function of what is asked


def record(project: UserProject, script: object = GOOD, *options: str) -> None:
    with LoopbackProvider(script) as provider:  # type: ignore[arg-type]  # any script
        project.reach(provider)
        project.salvo("run", "--record", *(options or ("-n", "1")))
    project.environ = {}


@pytest.mark.parametrize("adapter, model", [("openai", "gpt-5.4-mini"), ("anthropic", "claude-opus-4-8")])
def test_a_replay_needs_no_provider_no_tool_and_no_key(project: UserProject, adapter: str, model: str) -> None:
    thinking = UseTools(Use("search_flights", {"origin": "SFO", "destination": "JFK"}), thinking="private thoughts")
    record(project, by_turn(thinking, BOOK, CONFIRM, DONE), "-n", "1", "--adapter", adapter, "--model", model)
    project.write("tools.py", BROKEN_TOOLS)
    replayed = project.salvo("replay", "latest")
    assert replayed.exit_code == 0, replayed.output
    assert "Identical" in replayed.stdout
    assert "QWERTZ" in replayed.stdout
    assert "private thoughts" not in project.everything_stored()


def test_the_trace_is_shown_step_by_step(project: UserProject) -> None:
    record(project)
    assert tidy(project.salvo("replay", "latest").stdout) == snapshot("""\
book_flight  run 1  passed  score: 1.00
RUN-0001  openai/gpt-4o  WHEN

Assertions
  passed  tool_sequence, required, weight 2
  passed  confirmation_id (jmespath), weight 1
  passed  cost_limit, weight 1
  passed  latency_limit, weight 1

Tool calls
  1. search_flights  {"origin": "SFO", "destination": "JFK"}
     → [{"id": "B6-0916", "price": 212}, {"id": "UA-1537", "price": 289}]  (TIME)
  2. book_flight  {"flight_id": "B6-0916"}
     → {"booking_id": "BK-1"}  (TIME)
  3. get_booking_confirmation  {"booking_id": "BK-1"}
     → {"confirmation_id": "QWERTZ"}  (TIME)

Trace
     TIME  model  {"text": "", "stop": "tool_use", "tools": ["search_flights"], "tokens": 245}
     TIME  tool  {"name": "search_flights", "arguments": {"origin": "SFO", "destination": "JFK"}, "result": [{"id": "B6-0916", "price": 212}, {"id": "UA-1537", "price": 289}]}
     TIME  model  {"text": "", "stop": "tool_use", "tools": ["book_flight"], "tokens": 323}
     TIME  tool  {"name": "book_flight", "arguments": {"flight_id": "B6-0916"}, "result": {"booking_id": "BK-1"}}
     TIME  model  {"text": "", "stop": "tool_use", "tools": ["get_booking_confirmation"], "tokens": 390}
     TIME  tool  {"name": "get_booking_confirmation", "arguments": {"booking_id": "BK-1"}, "result": {"confirmation_id": "QWERTZ"}}
     TIME  model  {"text": "{\\"confirmation_id\\": \\"QWERTZ\\"}", "stop": "end", "tokens": 456}

Final output
  {"confirmation_id": "QWERTZ"}

Metrics
  latency  TIME
  cost     $0.0039; judge: $0
  tokens   1372 in, 42 out
  calls    4 model calls, 3 tool calls, 0 tool errors, 0 retries

Replay
  salvo replay RUN-0001

Identical: the same agent code, on the recorded answers, did the same.
""")


def test_a_recording_alone_is_enough(project: UserProject) -> None:
    """What is committed are the recordings; runs, batches and the index stay on the machine that made them."""
    record(project, agent_and_judge(), "-n", "2")
    for name in ("runs", "batches"):
        shutil.rmtree(project.store / name)
    (project.store / "history.jsonl").unlink()
    run_id = min(folder.name for folder in (project.store / "recordings").iterdir())
    assert project.salvo("replay", run_id).exit_code == 0
    assert project.salvo("replay", run_id, "--re-eval").exit_code == 0


def test_the_recorded_scenario_is_what_is_replayed(project: UserProject) -> None:
    record(project)
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT.replace("cheapest", "most expensive"))
    assert project.salvo("replay", "latest").exit_code == 0


def test_a_run_that_failed_by_its_provider_fails_again_the_same_way(project: UserProject) -> None:
    record(project, by_turn(SEARCH, Fault.unauthorized()))
    replayed = project.salvo("replay", "latest")
    assert replayed.exit_code == 0
    assert "Check the key (in the environment: OPENAI_API_KEY)" in replayed.stdout


def test_a_run_that_was_not_recorded_says_how_to_record_it(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1")
    failed = project.salvo("replay", "latest")
    assert failed.exit_code == 2
    assert "salvo run --record" in failed.stderr


def test_hashes_only_keep_no_content_and_say_that_they_cannot_be_replayed(project: UserProject) -> None:
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1", "--record-hashes")
    refused = project.salvo("replay", "latest")
    assert refused.exit_code == 3
    assert "Only hashes were recorded" in refused.stderr
    recorded = "\n".join(file.read_text() for file in (project.store / "recordings").rglob("*.json"))
    assert "sha256:" in recorded
    for content in ("cheapest", "QWERTZ", "B6-0916"):
        assert content not in recorded
    assert project.salvo("replay", "latest", "--re-eval").exit_code == 0, "the run itself is still here"


ADAPTER = """
import socket
from salvo import AdapterRequest, AdapterResponse, BaseAdapter

class Mine(BaseAdapter):
    async def run(self, request: AdapterRequest) -> AdapterResponse:
        found = await self.context.toolbox.call("search_flights", {"origin": "SFO", "destination": "DEST"})
        BODY
        return AdapterResponse(found.result[0])
"""
MINE = """
scenario: mine
adapter: mine:Mine
user_message: go
tools: [search_flights]
assertions:
  - {type: jmespath, path: final_output.price, operator: eq, value: 212}
"""


def own_adapter(project: UserProject, destination: str = "JFK", body: str = "") -> None:
    project.write("mine.py", ADAPTER.replace("DEST", destination).replace("BODY", body))


def test_changed_agent_code_is_a_divergence_that_explains_itself(project: UserProject) -> None:
    project.write("scenarios/mine.yaml", MINE)
    own_adapter(project)
    project.salvo("run", "scenarios/mine.yaml", "--record")
    assert project.salvo("replay", "latest").exit_code == 0
    own_adapter(project, destination="LGA")
    process = project.process("replay", "latest")
    out, err = process.communicate(timeout=30)
    assert process.returncode == 1, err
    assert "The agent now calls search_flights with other arguments" in out
    assert "'destination': 'JFK'" in out


def test_other_output_from_the_same_answers_is_a_divergence_with_its_place(project: UserProject) -> None:
    project.write("scenarios/mine.yaml", MINE)
    own_adapter(project)
    project.salvo("run", "scenarios/mine.yaml", "--record")
    own_adapter(project, body="found.result[0]['price'] = 99")
    process = project.process("replay", "latest")
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "Diverged at" in out
    assert "recorded 212, now 99" in out


def test_code_that_uses_the_network_in_a_replay_is_refused(project: UserProject) -> None:
    project.write("scenarios/mine.yaml", MINE)
    own_adapter(project)
    project.salvo("run", "scenarios/mine.yaml", "--record")
    own_adapter(project, body="socket.create_connection(('127.0.0.1', 9))")
    process = project.process("replay", "latest")
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "tried to use the network" in out


def test_evaluating_again_takes_the_judges_votes_from_the_tape(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", JUDGED)
    record(project, agent_and_judge("yny"), "-n", "2")
    again = project.salvo("replay", "latest", "--re-eval")
    assert again.exit_code == 0, again.output
    assert "no assertion changed" in again.stdout


def test_evaluating_again_shows_what_the_present_scenario_changes(project: UserProject) -> None:
    project.write("scenarios/book_flight.yaml", JUDGED)
    record(project, agent_and_judge(), "-n", "1")
    project.write(
        "scenarios/book_flight.yaml",
        JUDGED.replace('"^[A-Z]{6}$"', '"^[0-9]+$"').replace("The answer is polite.", "The answer is short."),
    )
    again = project.salvo("replay", "latest", "--re-eval")
    assert tidy(again.stdout) == snapshot("""\
RUN-0001  was passed (1.00), is error
  confirmation_id: was passed, is failed. expected final_output.confirmation_id to match "^[0-9]+$", got "QWERTZ"
  polite: was passed, is not judged. llm_judge could not be evaluated. The recording holds no votes on this question: the rubric, or what the judge is shown, has changed.
""")
    assert again.exit_code == 3


def test_a_whole_batch_is_evaluated_again_with_another_file(project: UserProject) -> None:
    record(project, GOOD, "-n", "3")
    project.write(
        "strict.yaml", BOOK_FLIGHT.replace("threshold: 0.8", "threshold: 1.0").replace("max_usd: 0.05", "max_usd: 0")
    )
    batch = project.runs()[0].name[:16]
    again = project.salvo("replay", batch, "--scenario", "strict.yaml")
    assert again.exit_code == 1
    assert len(re.findall(r"was passed \(1\.00\), is failed \(0\.80\)", again.stdout)) == 3
    document = json.loads(project.salvo("replay", batch, "--re-eval", "--json").stdout)
    assert [result["passed"] for result in document["results"]] == [True] * 3
    assert (document["was"]["verdict"], document["is"]["verdict"]) == ("passed", "passed")


def test_a_batch_is_evaluated_again_to_its_own_verdict(project: UserProject) -> None:
    answers = iter([DONE, Say("no id"), DONE, DONE])
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT.replace("threshold: 0.8", "threshold: 1.0"))
    record(project, by_turn(SEARCH, BOOK, CONFIRM, lambda request: next(answers)), "-n", "4", "-j", "1")
    batch = project.runs()[0].name[:16]
    strict = project.salvo("replay", batch, "--re-eval")
    assert strict.exit_code == 1
    project.write(
        "scenarios/book_flight.yaml",
        BOOK_FLIGHT.replace("threshold: 0.8", "threshold: 1.0\nmin_pass_rate: 0.75").replace(
            "max_usd: 0.05", "max_usd: 9"
        ),
    )
    lenient = project.salvo("replay", batch, "--re-eval")
    assert lenient.exit_code == 0, "three of four are enough now"
    assert tidy(lenient.stdout) == snapshot("""\
4 of 4 runs have the same results.

was  failed: 3 of 4 completed runs passed (shown with 95% confidence: at most 99.4%); min_pass_rate is 100%
is   passed: 3 of 4 completed runs passed (observed; not shown: the runs are compatible with 19%); min_pass_rate is 75%
""")
    eased = BOOK_FLIGHT.replace("threshold: 0.8", "threshold: 0.5") + BOOK_FLIGHT[BOOK_FLIGHT.index("  - type: cost") :]
    project.write("eased.yaml", eased)
    assert tidy(project.salvo("replay", batch, "--scenario", "eased.yaml").stdout) == snapshot("""\
RUN-0001  was passed (1.00), is passed (1.00)
  cost_limit: new, passed.
  latency_limit: new, passed.
RUN-0002  was failed (0.80), is passed (0.86)
  cost_limit: new, passed.
  latency_limit: new, passed.
RUN-0003  was passed (1.00), is passed (1.00)
  cost_limit: new, passed.
  latency_limit: new, passed.
RUN-0004  was passed (1.00), is passed (1.00)
  cost_limit: new, passed.
  latency_limit: new, passed.

was  failed: 3 of 4 completed runs passed (shown with 95% confidence: at most 99.4%); min_pass_rate is 100%
is   passed: 4 of 4 completed runs passed (observed; not shown: the runs are compatible with 39%); min_pass_rate is 100%
""")
    alone = project.salvo("replay", f"{batch}-0002", "--re-eval")
    assert alone.exit_code == 1, "that run itself still fails"


def test_a_batch_of_one_run_is_evaluated_as_a_batch(project: UserProject) -> None:
    record(project, by_turn(SEARCH, BOOK, CONFIRM, Say("no id")), "-n", "1", "--threshold", "1", "--min-pass-rate", "0")
    batch = project.runs()[0].name[:16]
    assert project.salvo("replay", batch, "--re-eval").exit_code == 0
    assert project.salvo("replay", "latest", "--re-eval").exit_code == 1


def test_a_clone_with_recordings_alone_can_replay_report_and_evaluate_a_whole_batch(project: UserProject) -> None:
    record(project, GOOD, "-n", "2")
    batch = project.runs()[0].name[:16]
    for name in ("runs", "batches"):
        shutil.rmtree(project.store / name)
    (project.store / "history.jsonl").unlink()
    again = project.salvo("replay", batch, "--re-eval")
    assert again.exit_code == 0, again.output
    assert "is   passed: 2 of 2 completed runs passed" in again.stdout
    assert project.salvo("replay", batch[:12], "--re-eval").exit_code == 0, "by its beginning, too"
    assert project.salvo("replay", "latest").exit_code == 0
    assert "2/2 runs" in project.salvo("report", "latest").stdout
    assert "Nothing is missing" in project.salvo("run", "--resume", "latest").stderr
    assert batch in project.salvo("report").stdout


def test_a_batch_without_any_run_has_nothing_to_evaluate(project: UserProject) -> None:
    record(project, GOOD, "-n", "1")
    batch = project.runs()[0].name[:16]
    shutil.rmtree(project.store / "recordings")
    project.runs()[0].unlink()
    nothing = project.salvo("replay", batch, "--re-eval")
    assert nothing.exit_code == 5
    assert f"The batch {batch} has no run yet." in nothing.stderr


def test_hashes_alone_on_another_machine_are_not_evaluated(project: UserProject) -> None:
    record(project, GOOD, "-n", "1", "--record-hashes")
    shutil.rmtree(project.store / "runs")
    refused = project.salvo("replay", "latest", "--re-eval")
    assert refused.exit_code == 3
    assert "Only hashes were recorded" in refused.stderr


def test_neither_replay_nor_evaluation_needs_what_only_a_call_would(project: UserProject) -> None:
    with_key = BOOK_FLIGHT.replace("runs: 10", "adapter_options: {api_key: '${MY_KEY}', base_url: '${MY_URL}'}")
    project.write("scenarios/book_flight.yaml", with_key)
    with LoopbackProvider(GOOD) as provider:
        project.reach(provider)
        project.environ |= {"MY_KEY": "sk-0123456789abcdef", "MY_URL": provider.url + "/v1"}
        ran = project.salvo("run", "--record")
        assert ran.exit_code == 0, ran.output
    project.environ = {}
    for name in ("MY_KEY", "MY_URL"):
        project.monkeypatch.delenv(name)
    (project.folder / "tools.py").unlink()
    assert project.salvo("replay", "latest").exit_code == 0
    again = project.salvo("replay", "latest", "--re-eval")
    assert again.exit_code == 0, again.output
    assert "Note: The tools have changed: there is no tool 'search_flights'" in again.stdout


def test_evaluating_again_names_a_tool_that_has_changed(project: UserProject) -> None:
    record(project)
    assert "Note" not in project.salvo("replay", "latest", "--re-eval").stdout
    project.write("tools.py", TOOLS.replace("212", "213"))
    again = project.salvo("replay", "latest", "--re-eval")
    assert again.exit_code == 0
    assert "Note: Changed since this ran: search_flights." in again.stdout


def test_a_replay_as_json(project: UserProject) -> None:
    record(project)
    document = json.loads(project.salvo("replay", "latest", "--json").stdout)
    assert (document["identical"], document["mode"], document["divergence"]) == (True, "full", None)


def test_a_damaged_recording_is_a_clear_error(project: UserProject) -> None:
    record(project)
    [folder] = (project.store / "recordings").iterdir()
    (folder / "response.json").write_text("{")
    damaged = project.salvo("replay", "latest")
    assert damaged.exit_code == 3
    assert "response.json of the recording" in damaged.stderr
    (folder / "response.json").unlink()
    assert "has no response.json" in project.salvo("replay", "latest").stderr


@pytest.mark.parametrize(
    "file, content, says",
    [
        ("request.json", b"[]", "it is not an object"),
        ("request.json", b'{"salvo_tape": 1, "requests": []}', "do not belong together"),
        ("response.json", b'{"salvo_tape": 1}', "do not belong together"),
    ],
)
def test_files_that_are_not_a_recording_say_so(project: UserProject, file: str, content: bytes, says: str) -> None:
    record(project)
    [folder] = (project.store / "recordings").iterdir()
    (folder / file).write_bytes(content)
    assert says in project.salvo("replay", "latest").stderr


def test_a_recording_with_a_damaged_part_names_the_place(project: UserProject) -> None:
    record(project)
    [folder] = (project.store / "recordings").iterdir()
    document = json.loads((folder / "response.json").read_text())
    document["result"]["number"] = "first"
    (folder / "response.json").write_text(json.dumps(document))
    assert "is damaged at result.number" in project.salvo("replay", "latest").stderr


def test_a_secret_in_a_tool_s_result_does_not_make_the_replay_diverge(project: UserProject) -> None:
    project.write("tools.py", TOOLS.replace('"price": 212', '"price": 212, "note": "sk-toolresult-0123456789"'))
    record(project)
    replayed = project.salvo("replay", "latest")
    assert replayed.exit_code == 0, replayed.output
    assert "sk-toolresult" not in project.everything_stored()


def test_an_agent_that_ends_otherwise_or_asks_for_less_has_diverged(project: UserProject) -> None:
    project.write("scenarios/mine.yaml", MINE)
    own_adapter(project, body="raise ValueError('first')")
    project.salvo("run", "scenarios/mine.yaml", "--record")
    assert project.salvo("replay", "latest").exit_code == 0
    for body, says in [("raise KeyError('second')", "KeyError"), ("", "Diverged at")]:
        own_adapter(project, body=body)
        out, _ = (process := project.process("replay", "latest")).communicate(timeout=30)
        assert process.returncode == 1
        assert says in out
    own_adapter(project)
    project.process("run", "scenarios/mine.yaml", "--record").communicate(timeout=30)
    project.write(
        "mine.py",
        ADAPTER.replace("await self.context.toolbox.call", "await self.nothing").replace("BODY", "")
        + "    async def nothing(self, name, arguments):\n"
        "        return type('Found', (), {'result': [{'id': 'B6-0916', 'price': 212}]})\n",
    )
    out, _ = (process := project.process("replay", "latest")).communicate(timeout=30)
    assert process.returncode == 1
    assert "no longer makes 1 of the recorded calls: search_flights" in out


def test_a_run_whose_time_was_over_inside_a_tool_replays_as_that(project: UserProject) -> None:
    project.write("tools.py", TOOLS.replace('"""Confirms a booking."""', "import asyncio; await asyncio.sleep(60)"))
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT.replace("timeout: 30", "timeout: 2"))
    record(project)
    replayed = project.salvo("replay", "latest")
    assert replayed.exit_code == 0, replayed.output


def test_threads_of_the_user_s_own_have_no_network_in_a_replay_either(project: UserProject) -> None:
    project.write("scenarios/mine.yaml", MINE)
    own_adapter(project)
    project.salvo("run", "scenarios/mine.yaml", "--record")
    own_adapter(
        project,
        body="""import threading, pathlib
        def call():
            try: socket.create_connection(('127.0.0.1', 9))
            except Exception as fault: pathlib.Path('seen').write_text(type(fault).__name__)
        thread = threading.Thread(target=call); thread.start(); thread.join()""",
    )
    project.process("replay", "latest").communicate(timeout=30)
    assert (project.folder / "seen").read_text() == "TapeMissError"


def test_what_the_command_said_instead_of_the_file_holds_when_it_is_evaluated_again(project: UserProject) -> None:
    with LoopbackProvider(by_turn(SEARCH, BOOK, CONFIRM, Say("no id"))) as provider:
        project.reach(provider)
        assert project.salvo("run", "-n", "1", "--record", "--threshold", "0.5").exit_code == 0
    project.environ = {}
    assert project.salvo("replay", "latest", "--re-eval").exit_code == 0
