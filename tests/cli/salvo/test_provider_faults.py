"""`salvo run` where the provider is at fault: the run is an error that says so, and never the agent's failure."""

import gzip
import json
import os
import pty
import subprocess
import sys
from typing import Any

import pytest
from click.testing import Result

from tests.support.project import BIN, BOOK_FLIGHT, UserProject
from tests.support.provider import (
    Answer,
    Fault,
    LoopbackProvider,
    ProviderRequest,
    Say,
    Scripted,
    Use,
    UseTools,
    by_turn,
)
from tests.support.wires import ANTHROPIC_KEY, OPENAI_KEY

GREETING = """
scenario: greeting
adapter: {adapter}
model: {model}
user_message: Say hello.
assertions:
  - {{type: latency_limit, max_seconds: 1000}}
"""
SEARCH = UseTools(Use("search_flights", {"origin": "SFO", "destination": "JFK"}))
BOOK = UseTools(Use("book_flight", {"flight_id": "B6-0916"}))
CONFIRM = UseTools(Use("get_booking_confirmation", {"booking_id": "BK-1"}))
DONE = Say('{"confirmation_id": "QWERTZ"}')
GOOD = by_turn(SEARCH, BOOK, CONFIRM, DONE)
MODELS = {"openai": "gpt-5.4-mini", "anthropic": "claude-sonnet-4-6"}


def greet(project: UserProject, script: Scripted, *arguments: str, adapter: str = "openai") -> dict[str, Any]:
    """The stored result of a run of a scenario that any answer passes."""
    (project.folder / "scenarios/book_flight.yaml").unlink(missing_ok=True)
    project.write("scenarios/greeting.yaml", GREETING.format(adapter=adapter, model=MODELS[adapter]))
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        project.salvo("run", *arguments)
    result: dict[str, Any] = json.loads(project.runs()[-1].read_text())
    return result


@pytest.mark.parametrize("adapter", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "body",
    [
        {"hello": "world"},
        {"choices": [{"message": {}}]},
        {"type": "message", "content": [{}]},
        {"output": [], "status": "completed"},
        {"object": "list", "data": []},
        [],
        "hello",
    ],
)
def test_a_success_that_is_no_completion_is_a_provider_error_and_passes_nothing(
    project: UserProject, adapter: str, body: Any
) -> None:
    result = greet(project, Fault.body(json.dumps(body).encode()), adapter=adapter)
    assert (result["outcome"], result["cause"], result["passed"]) == ("error", "provider", False)
    assert "did not answer with a completion" in result["error"]


def test_the_reply_of_another_provider_is_a_provider_error(project: UserProject) -> None:
    openai = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
    anthropic = {"type": "message", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}
    for adapter, body in (("anthropic", openai), ("openai", anthropic)):
        result = greet(project, Fault.body(json.dumps(body).encode()), adapter=adapter)
        assert (result["outcome"], result["cause"]) == ("error", "provider")


def test_usage_that_cannot_be_true_leaves_tokens_and_cost_unknown(project: UserProject) -> None:
    result = greet(project, Say("hi", usage={"prompt_tokens": 10**30, "completion_tokens": 1}))
    assert (result["outcome"], result["metrics"]["tokens"], result["metrics"]["cost"]) == ("passed", None, None)


@pytest.mark.parametrize(
    "fault, message",
    [
        (Fault.cut(), "broke off its reply after 62 of 124 bytes."),
        (Fault.bad_gzip(), "sent a reply that is not the gzip data it says it is."),
        (Fault.bad_gzip(gzip.compress(b"{}" * 100)[:-4]), "broke off its reply: the gzip data has no end."),
    ],
    ids=["half a body", "bad gzip", "gzip without its end"],
)
def test_a_reply_that_breaks_off_is_named_as_such(project: UserProject, fault: Fault, message: str) -> None:
    result = greet(project, fault, "--tries", "1")
    assert (result["outcome"], result["cause"]) == ("error", "provider")
    assert message in result["error"]
    assert "could not be reached" not in result["error"]


def flight(project: UserProject, script: Scripted, *arguments: str, timeout: float = 1.0) -> tuple[Result, Any]:
    """The command and the first stored result of the document's scenario."""
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT.replace("timeout: 30", f"timeout: {timeout}"))
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "1", *arguments)
    return ran, json.loads(project.runs()[0].read_text())


@pytest.mark.parametrize("fault", [Fault.hang(), Fault.drip()], ids=lambda fault: fault.kind)
@pytest.mark.parametrize("before", [(), (SEARCH,)], ids=["first call", "second call"])
def test_a_provider_that_hangs_or_drips_is_at_fault_and_not_the_agent(
    project: UserProject, fault: Fault, before: tuple[Answer, ...]
) -> None:
    ran, result = flight(project, by_turn(*before, fault), "--record")
    assert (ran.exit_code, result["outcome"], result["cause"]) == (3, "error", "provider")
    assert "sent no complete reply within 1 s" in result["error"]
    assert project.salvo("replay", "latest").exit_code == 0


def test_a_provider_that_answers_within_its_limit_leaves_the_timeout_to_the_agent(project: UserProject) -> None:
    search = UseTools(Use("search_flights", {"origin": "SFO", "destination": "JFK"}), delay=0.7)
    ran, result = flight(project, by_turn(search, Say("late", delay=0.7)))
    assert (ran.exit_code, result["outcome"], result["cause"]) == (1, "failed", "timeout")
    assert result["metrics"]["model_calls"] == 2, "the reply that was under way is paid for and counted"


def test_the_limit_of_a_call_is_set_by_flag_then_options_then_environment(project: UserProject) -> None:
    options = "adapter_options: {call_timeout: 0.4, tries: 1}\n"
    project.environ["SALVO_CALL_TIMEOUT"] = "0.6"
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT + options)
    for arguments, with_options, limit in (
        (("--call-timeout", "0.3"), True, "0.3"),
        ((), True, "0.4"),
        (("--tries", "1"), False, "0.6"),
    ):
        project.write("scenarios/book_flight.yaml", BOOK_FLIGHT + (options if with_options else ""))
        with LoopbackProvider(Fault.hang()) as provider:
            project.reach(provider)
            project.environ["SALVO_CALL_TIMEOUT"] = "0.6"
            project.salvo("run", "-n", "1", *arguments)
        result = json.loads(project.runs()[-1].read_text())
        assert (result["cause"], len(provider.requests)) == ("provider", 1)
        assert f"no complete reply within {limit} s" in result["error"]


def test_a_read_limit_ends_a_call_without_data(project: UserProject) -> None:
    _, result = flight(project, Fault.hang(), "--read-timeout", "0.2", "--tries", "1", timeout=30)
    assert "sent no complete reply within 0.2 s" in result["error"]


def test_tries_that_fail_are_not_the_agent_s_time(project: UserProject) -> None:
    _, result = flight(project, [Fault.hang(), Fault.hang(), DONE], "--call-timeout", "2", timeout=3.5)
    assert result["cause"] == "assertion", "it was judged"
    assert result["metrics"]["retries"] == 2
    assert result["metrics"]["latency"] < 2


@pytest.mark.parametrize(
    "option", ["call_timeout: 0", "tries: 0", "read_timeout: soon", "base_url: localhost:8080", "base_url: nowhere"]
)
def test_a_limit_or_address_that_is_none_is_refused_with_its_place(project: UserProject, option: str) -> None:
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT + f"adapter_options:\n  {option}\n")
    ran = project.salvo("validate")
    assert ran.exit_code == 2
    assert f": adapter_options.{option.partition(':')[0]}: " in ran.stdout


def test_a_limit_of_the_environment_that_is_none_is_named(project: UserProject) -> None:
    project.environ["SALVO_TRIES"] = "many"
    ran = project.salvo("run")
    assert (ran.exit_code, "SALVO_TRIES is 'many', which is not a number of tries." in ran.stderr) == (2, True)
    assert not project.runs()


def test_the_progress_shows_life_while_a_call_is_open(project: UserProject) -> None:
    ours, theirs = pty.openpty()
    with LoopbackProvider(Fault.hang()) as provider:
        project.reach(provider)
        command = [str(BIN / "salvo"), "run", "-n", "1", "--call-timeout", "4", "--tries", "1"]
        environ = {**os.environ, **project.environ}
        subprocess.run(
            command, check=False, cwd=project.folder, env=environ, stdout=subprocess.DEVNULL, stderr=theirs, timeout=60
        )
    os.close(theirs)
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    assert "0/1 runs done, 0 passed (waiting for 1 call, the oldest for 3 s)" in shown


@pytest.mark.parametrize(
    "judge", ["", "  - {type: llm_judge, model: anthropic/claude-haiku-4-5, rubric: It is polite.}\n"]
)
def test_without_a_needed_key_nothing_is_stored(project: UserProject, judge: str) -> None:
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT + judge)
    name = "ANTHROPIC_API_KEY" if judge else "OPENAI_API_KEY"
    project.environ = {"OPENAI_API_KEY": OPENAI_KEY} if judge else {}
    ran = project.salvo("run")
    assert ran.exit_code == 2
    assert f"Set {name}. Nothing was run, and nothing was spent." in ran.stderr
    assert list(project.store.iterdir()) == []


def test_an_address_of_the_environment_that_is_none_is_refused_before_anything_is_stored(project: UserProject) -> None:
    project.environ = {"OPENAI_API_KEY": OPENAI_KEY, "OPENAI_BASE_URL": "localhost:8080"}
    ran = project.salvo("run")
    assert (ran.exit_code, "(set by OPENAI_BASE_URL) is not a web address" in ran.stderr) == (2, True)
    assert list(project.store.iterdir()) == []


@pytest.mark.parametrize(
    "fault, said",
    [
        (Fault.unauthorized(), "OpenAI answered 401"),
        (Fault.unknown_model(), "OpenAI answered 404"),
        (Fault.quota(), "OpenAI answered 429"),
        (Fault.rate_limited(retry_after=3600), "It says to wait for 3,600 s."),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
def test_what_every_run_would_meet_stops_the_batch_after_the_first(
    project: UserProject, fault: Fault, said: str
) -> None:
    project.write("scenarios/again.yaml", BOOK_FLIGHT.replace("scenario: book_flight", "scenario: again"))
    with LoopbackProvider(fault) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "20", "-j", "1", "--json")
    assert (ran.exit_code, len(provider.requests), len(project.runs())) == (3, 1, 1)
    skipped = [group for batch in json.loads(ran.stdout)["batches"] for group in batch["not_made"]]
    assert sorted(group["count"] for group in skipped) == [19, 20]
    assert {group["cause"] for group in skipped} == {"provider"}
    assert all(said in group["message"] for group in skipped)


def test_a_refused_port_stops_the_batch_at_once(project: UserProject) -> None:
    with LoopbackProvider(Say("hi")) as provider:
        project.reach(provider)
    ran = project.salvo("run", "-n", "20", "-j", "2")
    assert (ran.exit_code, len(project.runs()) <= 2) == (3, True)
    assert "could not be reached: the host refused the connection." in ran.stdout
    assert "retrying" not in ran.stderr


def test_a_wrong_key_of_a_judge_stops_the_batch_too(project: UserProject) -> None:
    judge = "  - {type: llm_judge, model: anthropic/claude-haiku-4-5, k: 1, rubric: It is polite.}\n"
    project.write("scenarios/book_flight.yaml", BOOK_FLIGHT + judge)

    def script(request: ProviderRequest) -> Answer:
        return Fault.unauthorized() if request.protocol == "anthropic" else GOOD(request)

    with LoopbackProvider(script) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "20", "-j", "1")
    assert (ran.exit_code, len(project.runs())) == (3, 1)
    assert "Anthropic answered 401" in ran.stdout


def test_another_address_is_not_stopped_by_the_fault_of_the_first(project: UserProject) -> None:
    with LoopbackProvider(Fault.unauthorized()) as locked, LoopbackProvider(GOOD) as open_:
        own = f"adapter_options: {{base_url: {open_.openai_url}, api_key: {OPENAI_KEY}}}\n"
        again = BOOK_FLIGHT.replace("scenario: book_flight", "scenario: local") + own
        project.write("scenarios/local.yaml", again)
        project.reach(locked)
        project.salvo("run", "-n", "3", "-j", "1")
    assert len(project.runs()) == 1 + 3


def test_x_stops_at_an_error_too_and_it_is_no_failure(project: UserProject) -> None:
    with LoopbackProvider(Fault.server_error(500)) as provider:
        project.reach(provider)
        ran = project.salvo("run", "-n", "5", "-j", "1", "-x", "--tries", "1")
    assert (ran.exit_code, len(project.runs())) == (3, 1)
    assert "a run could not be judged, and -x stops at the first" in ran.stdout


def test_a_401_of_an_address_in_the_file_does_not_advise_a_key_that_is_not_sent_there(project: UserProject) -> None:
    with LoopbackProvider(Fault.unauthorized()) as provider:
        project.environ = {"OPENAI_API_KEY": OPENAI_KEY}
        own = f"adapter_options: {{base_url: {provider.openai_url}}}\n"
        project.write("scenarios/book_flight.yaml", BOOK_FLIGHT + own)
        project.salvo("run", "-n", "1")
    error = json.loads(project.runs()[0].read_text())["error"]
    assert "OPENAI_API_KEY" not in error
    assert "Check the key (`api_key` in adapter_options; no other key is sent there)" in error


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/v1/messages"])
def test_an_address_of_anthropic_may_end_in_v1(project: UserProject, end: str) -> None:
    with LoopbackProvider(Say("hi")) as provider:
        own = f"adapter_options: {{base_url: '{provider.url}{end}', api_key: {ANTHROPIC_KEY}}}\n"
        text = GREETING.format(adapter="anthropic", model=MODELS["anthropic"]) + own
        project.write("scenarios/book_flight.yaml", text)
        assert project.salvo("run").exit_code == 0


CALLING_AGENT = """
from salvo import AdapterResponse, BaseAdapter
from salvo.engine.chat.base import ChatRequest, UserMessage

class Agent(BaseAdapter):
    async def run(self, request):
        try:
            await self.context.chat_model("openai/gpt-5.4-mini").complete(ChatRequest((UserMessage("hi"),)))
        except Exception as error:
            {handling}
"""
CALLING_PROGRAM = """
import json, os, urllib.error, urllib.request
headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
body = json.dumps({"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "hi"}]}).encode()
try:
    urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers))
except urllib.error.HTTPError:
    print("Sorry.")
"""
GREETED_BY = GREETING.replace("latency_limit, max_seconds: 1000", "text, contains_all: [hello]").replace(
    "model: {model}", "{model}\nruns: 4"
)


@pytest.mark.parametrize("handling", ["raise", "raise RuntimeError('oh')", "return AdapterResponse('Sorry.')"])
def test_a_missing_key_that_only_a_run_can_see_stops_the_batch_after_the_first(
    project: UserProject, handling: str
) -> None:
    project.write("agent.py", CALLING_AGENT.format(handling=handling))
    project.write("scenarios/book_flight.yaml", GREETED_BY.format(adapter="agent:Agent", model=""))
    ran = project.salvo("run", "-j", "1")
    assert (ran.exit_code, len(project.runs())) == (3, 1), ran.output
    assert "3 × not run: every further run would fail in the same way: There is no API key for openai" in ran.stdout


def test_a_missing_key_that_a_program_tolerates_stops_the_batch_too(project: UserProject) -> None:
    project.write("program.py", CALLING_PROGRAM)
    options = f"adapter_options: {{command: [{sys.executable}, program.py]}}"
    project.write("scenarios/book_flight.yaml", GREETED_BY.format(adapter="command", model=options))
    ran = project.salvo("run", "-j", "1")
    assert (ran.exit_code, len(project.runs())) == (3, 1), ran.output
    assert "3 × not run: every further run would fail in the same way: There is no API key for openai" in ran.stdout


def test_a_credential_of_a_program_that_is_not_set_is_refused_before_anything_is_stored(project: UserProject) -> None:
    options = f"adapter_options: {{command: [{sys.executable}, program.py], pass_env: [EDITOR_OF_MINE, CRM_API_KEY]}}"
    project.write("program.py", "print('hello')")
    project.write("scenarios/book_flight.yaml", GREETED_BY.format(adapter="command", model=options))
    ran = project.salvo("run")
    assert (ran.exit_code, list(project.store.rglob("*.json"))) == (2, [])
    assert "pass_env[1]: the environment variable CRM_API_KEY is not set" in ran.stderr
    project.environ["CRM_API_KEY"] = "crm-123456"
    ran = project.salvo("run", "--record")
    assert ran.exit_code == 0
    assert "The agent of greeting gets CRM_API_KEY." in ran.stderr, "a variable that is not set is not given"
    project.monkeypatch.delenv("CRM_API_KEY")
    del project.environ["CRM_API_KEY"]
    assert "not set" not in project.salvo("replay", "latest").output, "a replay needs no key"


def test_a_call_that_fails_before_another_one_succeeds_is_held_against_nobody(project: UserProject) -> None:
    again = "await self.context.chat_model('anthropic/claude-sonnet-4-6').complete(ChatRequest((UserMessage('hi'),)))"
    code = CALLING_AGENT.format(handling=f"{again}\n            return AdapterResponse('Sorry.')")
    project.write("agent.py", code)
    project.write("scenarios/book_flight.yaml", GREETED_BY.format(adapter="agent:Agent", model=""))
    with LoopbackProvider(Say("hi")) as provider:
        project.reach(provider)
        del project.environ["OPENAI_API_KEY"]
        ran = project.salvo("run")
    assert (ran.exit_code, len(project.runs())) == (1, 4)
    assert "0 of 4 completed runs passed" in ran.stdout


def test_a_run_whose_time_ends_with_a_call_that_hangs_is_the_providers_fault_whatever_the_agent_does_then(
    project: UserProject,
) -> None:
    project.write("agent.py", "import asyncio\n" + CALLING_AGENT.format(handling="await asyncio.sleep(60)"))
    project.write("scenarios/book_flight.yaml", GREETED_BY.format(adapter="agent:Agent", model="timeout: 1"))
    with LoopbackProvider(Fault.hang()) as provider:
        project.reach(provider)
        project.salvo("run", "-n", "1", "--tries", "1")
    result = json.loads(project.runs()[0].read_text())
    assert (result["outcome"], result["cause"]) == ("error", "provider"), result["error"]
    assert "sent no complete reply within 1 s" in result["error"]
