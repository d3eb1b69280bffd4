"""`adapter: command`: any program, its models behind the gateway, recorded and then replayed with the provider off."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from textwrap import dedent, indent
from typing import Any, Self

import pytest
import yaml
from click.testing import Result
from inline_snapshot import snapshot

from tests.support.project import UserProject
from tests.support.provider import Fault, LoopbackProvider, Say, Scripted, Use, UseTools, by_turn
from tests.support.wires import ANTHROPIC_KEY, OPENAI_KEY

OPENAI_AGENT = """
import json, sys
from openai import OpenAI

TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("find", "book")]
client, messages = OpenAI(), [{"role": "user", "content": sys.stdin.read()}]
while True:
    with client.chat.completions.stream(
        model="gpt-5.4-mini", messages=messages, tools=TOOLS, stream_options={"include_usage": True}
    ) as stream:
        said = stream.get_final_completion().choices[0].message
    if not said.tool_calls:
        break
    calls = [{"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}} for c in said.tool_calls]
    messages.append({"role": "assistant", "content": said.content, "tool_calls": calls})
    for call in said.tool_calls:
        asked = json.loads(call.function.arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps({"of": call.function.name, **asked})})
messages += [{"role": "assistant", "content": said.content}, {"role": "user", "content": "sure?"}]
whole = client.chat.completions.create(model="gpt-5.4-mini", messages=messages)
print(whole.choices[0].message.content)
"""

RESPONSES_AGENT = """
import json, sys
from openai import OpenAI

TOOLS = [{"type": "function", "name": name, "parameters": {"type": "object"}, "strict": False} for name in ("find", "book")]
client, conversation = OpenAI(), [{"role": "user", "content": sys.stdin.read()}]
while True:
    with client.responses.stream(model="gpt-5.4-mini", input=conversation, tools=TOOLS) as stream:
        said = stream.get_final_response()
    conversation += [item.to_dict() for item in said.output]
    calls = [item for item in said.output if item.type == "function_call"]
    if not calls:
        break
    for call in calls:
        result = json.dumps({"of": call.name, **json.loads(call.arguments)})
        conversation.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
whole = client.responses.create(model="gpt-5.4-mini", input=[*conversation, {"role": "user", "content": "sure?"}])
print(whole.output_text)
"""

ANTHROPIC_AGENT = """
import json, sys
from anthropic import Anthropic

TOOLS = [{"name": name, "input_schema": {"type": "object"}} for name in ("find", "book")]
client, messages = Anthropic(), [{"role": "user", "content": sys.stdin.read()}]
asked = {"model": "claude-opus-4-8", "max_tokens": 4000, "tools": TOOLS}
while True:
    with client.messages.stream(messages=messages, **asked) as stream:
        said = stream.get_final_message()
    uses = [block for block in said.content if block.type == "tool_use"]
    messages.append({"role": "assistant", "content": said.content})
    if not uses:
        break
    results = [
        {"type": "tool_result", "tool_use_id": use.id, "content": json.dumps({"of": use.name, **use.input}), "is_error": use.name == "book"}
        for use in uses
    ]
    messages.append({"role": "user", "content": results})
whole = client.messages.create(messages=[*messages, {"role": "user", "content": "sure?"}], **asked)
print(whole.content[-1].text)
"""

PLAIN_AGENT = """
import json, os, sys, urllib.request

def ask(text, **more):
    body = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": text}], **more}
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]

"""

TALK = by_turn(
    UseTools(Use("find", {"name": "Ada"}), Use("book", {"seat": "2A"}), text="Let me look.", thinking="private thoughts"),
    Say("Found.", thinking="more thoughts"),
    Say('{"confirmation": "QWERTZ"}'),
)  # fmt: skip

SCENARIO = """
scenario: program
adapter: command
user_message: Book for Ada.
runs: 1
timeout: 60
adapter_options:
  command: [{python}, agent.py]
{options}
assertions:
  - {{type: jmespath, path: final_output.confirmation, operator: eq, value: QWERTZ}}
{assertions}
"""


def write(project: UserProject, agent: str, options: str = "", assertions: str = "") -> None:
    (project.folder / "scenarios/book_flight.yaml").unlink(missing_ok=True)
    project.write("agent.py", agent)
    text = SCENARIO.format(
        python=sys.executable,
        options=indent(dedent(options).strip("\n"), "  "),
        assertions=indent(dedent(assertions).strip("\n"), "  "),
    )
    (project.folder / "scenarios/program.yaml").write_text(text)


def record(project: UserProject, script: Scripted = TALK) -> tuple[int, dict[str, Any]]:
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        ran = project.salvo("run", "--record")
    project.environ = {}
    assert project.runs(), ran.output
    result: dict[str, Any] = json.loads(project.runs()[-1].read_text())
    return ran.exit_code, result


@pytest.mark.parametrize(
    "agent, provider, booked",
    [
        (OPENAI_AGENT, "openai/gpt-5.4-mini", {"result": {"of": "book", "seat": "2A"}, "error": None}),
        pytest.param(
            RESPONSES_AGENT,
            "openai/gpt-5.4-mini",
            {"result": {"of": "book", "seat": "2A"}, "error": None},
            marks=pytest.mark.load,
        ),
        pytest.param(
            ANTHROPIC_AGENT,
            "anthropic/claude-opus-4-8",
            {"result": None, "error": '{"of": "book", "seat": "2A"}'},
            marks=pytest.mark.load,
        ),
    ],
    ids=["chat completions", "responses", "messages"],
)
def test_an_official_sdk_streams_uses_tools_and_is_replayed_with_the_provider_off(
    project: UserProject, agent: str, provider: str, booked: dict[str, Any]
) -> None:
    write(
        project, agent, assertions="- {type: tool_sequence, expected: [find, book]}\n- {type: cost_limit, max_usd: 1}"
    )
    code, result = record(project)
    assert code == 0, result
    assert result["final_output"] == {"confirmation": "QWERTZ"}
    found, books = result["tool_calls"]
    assert (found["name"], found["arguments"], found["result"]) == (
        "find",
        {"name": "Ada"},
        {"of": "find", "name": "Ada"},
    )
    assert {name: books[name] for name in ("result", "error")} == booked
    assert [event["type"] for event in result["trace"]] == ["model", "tool", "tool", "model", "model"]
    assert (result["metrics"]["model_calls"], result["details"]["models"].keys()) == (3, {provider})
    assert result["metrics"]["cost"] > 0
    assert result["replayable"] == "model-only"
    stored = project.everything_stored()
    for secret in (OPENAI_KEY, ANTHROPIC_KEY, "private thoughts", "sk-salvo-"):
        assert secret not in stored
    replayed = project.salvo("replay")
    assert replayed.exit_code == 0, replayed.output
    assert "Identical: the program, run again on the recorded answers of its models, did the same." in replayed.stdout
    assert "Note: A replay starts the program again, with its own tools" in replayed.stdout


def test_a_program_that_asks_something_else_in_replay_diverges_and_is_ended(project: UserProject) -> None:
    write(project, PLAIN_AGENT + "print(ask('first'))")
    record(project, Say('{"confirmation": "QWERTZ"}'))
    stubborn = "import time\ntry: ask('second')\nexcept Exception: time.sleep(20)\nopen('waited', 'w')"
    project.write("agent.py", PLAIN_AGENT + stubborn)
    replayed = project.salvo("replay")
    assert replayed.exit_code == 1
    assert 'messages[0].content: recorded "first", now "second"' in replayed.stdout
    assert not (project.folder / "waited").exists(), "it is ended at once"


def test_other_output_on_the_same_answers_is_a_divergence(project: UserProject) -> None:
    write(project, PLAIN_AGENT + "print(ask('first'))")
    record(project, Say('{"confirmation": "QWERTZ"}'))
    project.write("agent.py", PLAIN_AGENT + "print(ask('first').lower())")
    replayed = project.salvo("replay")
    assert replayed.exit_code == 1
    assert 'final_output.confirmation: recorded "QWERTZ", now "qwertz"' in replayed.stdout


def test_a_recording_cannot_start_a_program_that_the_scenarios_file_does_not_name(project: UserProject) -> None:
    write(project, PLAIN_AGENT + "print(ask('first'))")
    record(project, Say('{"confirmation": "QWERTZ"}'))
    [request] = (project.store / "recordings").rglob("request.json")
    request.write_text(request.read_text().replace('"agent.py"', '"evil.py"'))
    project.write("evil.py", "open('started', 'w')")
    replayed = project.salvo("replay")
    assert replayed.exit_code != 0
    assert "nothing was started" in replayed.output
    assert not (project.folder / "started").exists()


@pytest.mark.parametrize(
    "options, agent",
    [
        ("", "print(json.dumps({'confirmation': 'QWERTZ', 'got': sys.stdin.read()}))"),
        ("input: text", "print(json.dumps({'confirmation': 'QWERTZ', 'got': sys.stdin.read()}))"),
        ("input: json", "print(json.dumps({'confirmation': 'QWERTZ', 'got': json.load(sys.stdin)['user_message']}))"),
    ],
)
def test_the_input_comes_on_standard_input(project: UserProject, options: str, agent: str) -> None:
    write(project, "import json, sys\n" + agent, options)
    code, result = record(project)
    assert (code, result["final_output"]["got"]) == (0, "Book for Ada.")
    assert (result["replayable"], result["metrics"]["cost"]) == ("no", None)


def test_the_input_comes_in_a_file_where_the_command_has_a_place_for_it(project: UserProject) -> None:
    agent = "import json, sys\nprint(json.dumps({'confirmation': 'QWERTZ', 'got': json.load(open(sys.argv[1]))}))"
    write(project, agent)
    file = project.folder / "scenarios/program.yaml"
    named = f"command: '{sys.executable} agent.py {{input}}'\n  input: json"
    text = file.read_text().replace(f"command: [{sys.executable}, agent.py]", named)
    file.write_text(text.replace("runs: 1", "seed: 7\nsystem_prompt: Be brief.\nmodel: mine"))
    code, result = record(project)
    assert code == 0, result
    assert result["final_output"]["got"] == snapshot(
        {
            "user_message": "Book for Ada.",
            "system_prompt": "Be brief.",
            "model": "mine",
            "temperature": None,
            "seed": 7,
            "max_turns": 20,
            "output_schema": None,
        }
    )


def test_the_program_gets_a_plain_environment_its_own_variables_and_no_key(
    project: UserProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = "import json, os\nprint(json.dumps({'confirmation': 'QWERTZ', 'environ': dict(os.environ)}))"
    write(project, agent, "env: {MODE: 'test ${STAGE}'}\npass_env: [REGION]")
    for name, value in {"STAGE": "one", "REGION": "north", "OTHER": "no", "MY_SECRET": "hidden-away-1"}.items():
        monkeypatch.setenv(name, value)
    code, result = record(project)
    environ = result["final_output"]["environ"]
    assert code == 0
    assert (environ["MODE"], environ["REGION"], environ["PATH"]) == ("test one", "north", os.environ["PATH"])
    assert environ["OPENAI_BASE_URL"].startswith("http://127.0.0.1:")
    assert environ["OPENAI_BASE_URL"].endswith("/openai/v1")
    assert environ["OPENAI_API_KEY"] == environ["ANTHROPIC_API_KEY"] == "[redacted]"
    assert {"OTHER", "MY_SECRET"}.isdisjoint(environ)
    for key in (OPENAI_KEY, ANTHROPIC_KEY):
        assert key not in project.everything_stored()


@pytest.mark.parametrize(
    "agent, said",
    [
        ("raise ValueError('no seat')", "The program ended with exit code 1. The end of its standard error: File \"agent.py\", line 1, in <module> | raise ValueError('no seat') | ValueError: no seat"),
        ("import os; os.kill(os.getpid(), 9)", "The program was ended by signal 9."),
        ("while True: print('x' * 1000)", "The program wrote more than 10,485,760 bytes."),
    ],
)  # fmt: skip
def test_a_program_that_fails_by_itself_fails_its_run(project: UserProject, agent: str, said: str) -> None:
    write(project, agent)
    code, result = record(project)
    assert (code, result["outcome"], result["cause"], result["weighted_score"]) == (1, "failed", "exit", 0.0)
    assert result["error"].replace(f"{project.folder}/", "") == said
    assert (
        f"1 run failed: the agent exited with an error: {result['error']}\n" in project.salvo("report", "latest").stdout
    )


def test_a_program_that_does_without_its_last_call_is_judged_by_what_it_did(project: UserProject) -> None:
    agent = PLAIN_AGENT + "found = ask('hello')\ntry: ask('thanks')\nexcept Exception: pass\nprint(found)"
    write(project, agent)
    code, result = record(project, [Say('{"confirmation": "QWERTZ"}'), Fault.unauthorized()])
    assert (code, result["outcome"], result["cause"]) == (0, "passed", None)
    assert [event["type"] for event in result["trace"]] == ["model", "model_error"]
    assert project.salvo("replay").exit_code == 0


def test_what_a_program_lacked_is_not_held_against_it_when_the_stored_run_is_scored_again(project: UserProject) -> None:
    agent = PLAIN_AGENT + "found = ask('hello')\ntry: ask('thanks')\nexcept Exception: pass\nprint(found)"
    write(project, agent)
    code, _ = record(project, [Say('{"confirmation": "QWERTZ"}'), Fault.unauthorized()])
    assert code == 0
    scenario = next((project.folder / "scenarios").glob("*.yaml"))
    stricter = yaml.safe_load(scenario.read_text())
    stricter["assertions"] = [{"type": "jmespath", "path": "final_text", "operator": "contains", "value": "thanks"}]
    project.write("stricter.yaml", yaml.safe_dump(stricter))
    assert project.salvo("score", "latest", "stricter.yaml").exit_code == 3
    assert project.salvo("replay", "--scenario", "stricter.yaml").exit_code == 3


@pytest.mark.parametrize("body", [b'{"hello": "world"}', b'{"choices": [{"message": {}}]}'])
def test_a_program_that_makes_something_of_a_reply_that_is_none_does_not_pass(
    project: UserProject, body: bytes
) -> None:
    write(project, PLAIN_AGENT + "try: ask('hello')\nexcept KeyError: pass\nprint('{\"confirmation\": \"QWERTZ\"}')")
    code, result = record(project, Fault.body(body))
    assert (code, result["outcome"], result["cause"]) == (3, "error", "provider")
    assert "OpenAI did not answer with a completion" in result["error"]


def test_a_crash_after_an_answer_is_the_same_in_replay_whatever_it_complains_about(project: UserProject) -> None:
    write(project, PLAIN_AGENT + "import time\nask('first')\nsys.exit(f'at {time.time_ns()}')")
    assert record(project, Say("ok"))[0] == 1
    replayed = project.salvo("replay")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True)


@pytest.mark.parametrize("ending", ["raise", "print('Sorry.')"])
def test_a_provider_out_of_order_makes_an_error_not_a_failure(project: UserProject, ending: str) -> None:
    write(project, PLAIN_AGENT + f"try: ask('hello')\nexcept Exception:\n    {ending}")
    code, result = record(project, Fault.unauthorized())
    assert (code, result["outcome"], result["cause"]) == (3, "error", "provider")
    assert "Check the key (in the environment: OPENAI_API_KEY)" in result["error"]
    assert project.salvo("replay").exit_code == 0


@pytest.mark.parametrize("fault", [Fault.hang(), Fault.drip()], ids=lambda fault: fault.kind)
def test_a_provider_that_hangs_is_not_the_timeout_of_the_program(project: UserProject, fault: Fault) -> None:
    write(project, PLAIN_AGENT + "import time\ntime.sleep(0.5)\ntry: ask('hello')\nexcept Exception: time.sleep(60)")
    file = project.folder / "scenarios/program.yaml"
    file.write_text(file.read_text().replace("timeout: 60", "timeout: 1.5"))
    code, result = record(project, fault)
    assert (code, result["outcome"], result["cause"]) == (3, "error", "provider")
    assert "sent no complete reply within 1.5 s" in result["error"]


def test_no_key_is_told_as_what_it_is(project: UserProject) -> None:
    write(project, PLAIN_AGENT + "ask('hello')")
    ran = project.salvo("run")
    assert ran.exit_code == 3
    assert "There is no API key for openai" in json.loads(project.runs()[-1].read_text())["error"]


def test_a_program_that_finds_another_way_is_judged_by_what_it_did(project: UserProject) -> None:
    write(project, PLAIN_AGENT + "try: ask('hello')\nexcept Exception: print(ask('again'))")
    code, result = record(project, [Fault.unauthorized(), Say('{"confirmation": "QWERTZ"}')])
    assert (code, result["outcome"]) == (0, "passed")
    assert [event["type"] for event in result["trace"]] == ["model_error", "model"]


def test_a_request_that_the_program_wrote_wrongly_is_its_own_fault(project: UserProject) -> None:
    write(project, PLAIN_AGENT + "ask('hello', nonsense=1)")
    code, result = record(project, Say("never"))
    assert (code, result["outcome"], result["cause"]) == (1, "failed", "exit")
    assert "OpenAI answered 400: Unrecognized request argument supplied: nonsense." in result["error"]


def test_a_full_context_is_told_as_such(project: UserProject) -> None:
    write(project, PLAIN_AGENT + "ask('hello')")
    assert record(project, Fault.context_too_long())[1]["cause"] == "context"


def test_the_turn_limit_ends_the_program(project: UserProject) -> None:
    write(project, PLAIN_AGENT + "while True:\n    try: ask('hello')\n    except Exception: pass")
    file = project.folder / "scenarios/program.yaml"
    file.write_text(file.read_text().replace("runs: 1", "max_turns: 3"))
    code, result = record(project, Say("on and on"))
    assert (code, result["cause"], result["metrics"]["model_calls"]) == (1, "turn_limit", 3)
    assert project.salvo("replay").exit_code == 0


def test_a_rate_limit_is_waited_out_and_counted(project: UserProject) -> None:
    write(project, PLAIN_AGENT + "print(ask('hello'))")
    code, result = record(project, [Fault.rate_limited(retry_after=0), Say('{"confirmation": "QWERTZ"}')])
    assert (code, result["metrics"]["retries"]) == (0, 1)


FAMILY = """
import os, signal, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open("child.pid", "w").write(str(child.pid))
"""


def is_gone(file: Path) -> bool:
    pid = int(file.read_text())
    for _ in range(100):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":  # ended; nobody has asked how yet
            return True
        time.sleep(0.05)
    return False


def test_a_timeout_ends_the_program_and_all_that_it_started(project: UserProject) -> None:
    write(project, FAMILY + "time.sleep(60)")
    file = project.folder / "scenarios/program.yaml"
    file.write_text(file.read_text().replace("timeout: 60", "timeout: 1"))
    code, result = record(project)
    assert (code, result["cause"]) == (1, "timeout")
    assert is_gone(project.folder / "child.pid")


def test_what_a_program_leaves_running_is_not_waited_for(project: UserProject) -> None:
    write(project, FAMILY + 'print(\'{"confirmation": "QWERTZ"}\')')
    assert record(project)[0] == 0
    assert is_gone(project.folder / "child.pid")


def start_family(project: UserProject, more: str = "") -> "subprocess.Popen[str]":
    """A command whose program and its child sleep."""
    write(project, FAMILY + more + "open('program.pid', 'w').write(str(os.getpid())); time.sleep(60)")
    process = project.process("run", "-o", "out.json")
    while not (project.folder / "program.pid").exists() or not (project.folder / "program.pid").read_text():
        assert process.poll() is None
        time.sleep(0.02)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("more", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN); "], ids=["plain", "stubborn"])
def test_ctrl_c_and_sigterm_end_the_program_and_all_that_it_started(
    project: UserProject, number: signal.Signals, more: str
) -> None:
    process = start_family(project, more)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert is_gone(project.folder / "program.pid")
    assert is_gone(project.folder / "child.pid")
    assert json.loads((project.folder / "out.json").read_text())["batches"][0]["interrupted"] == 1


@pytest.mark.usefixtures("coverage_in_processes")
def test_after_kill_9_no_program_stays_behind(project: UserProject) -> None:
    process = start_family(project)
    process.kill()
    process.communicate(timeout=30)
    assert is_gone(project.folder / "program.pid")
    assert is_gone(project.folder / "child.pid")


def test_tools_that_are_asked_for_and_never_answered_are_seen_all_the_same(project: UserProject) -> None:
    write(project, PLAIN_AGENT + "ask('hello')\nprint('{\"confirmation\": \"QWERTZ\"}')")
    code, result = record(project, UseTools(Use("answer", {"confirmation": "QWERTZ"}), Use("broken", "{no json")))
    assert code == 0, result
    assert [(call["name"], call["arguments"], call["result"]) for call in result["tool_calls"]] == [
        ("answer", {"confirmation": "QWERTZ"}, None),
        ("broken", "{no json", None),
    ]
    assert [event["type"] for event in result["trace"]] == ["model", "tool", "tool"]


WRONG = [
    "comand: [python3]",
    "command: []",
    "command: python3 'agent.py",
    "command: [no-such-program]",
    "command: [./agent.py]\n  cwd: nowhere",
    "command: [python3]\n  input: stdin",
    "command: [python3]\n  env: {OPENAI_API_KEY: mine}",
    "command: [python3]\n  env: {MINE: '${OPENAI_API_KEY}'}\n  pass_env: [ANTHROPIC_API_KEY]",
]


def test_a_command_is_checked_before_anything_is_called(project: UserProject) -> None:
    write(project, "")
    project.environ = {"OPENAI_API_KEY": OPENAI_KEY}
    file = project.folder / "scenarios/program.yaml"
    sound, told = file.read_text(), []
    for options in WRONG:
        file.write_text(sound.replace(f"command: [{sys.executable}, agent.py]", options))
        *problems, _ = project.salvo("validate").stdout.splitlines()
        told += [problem.partition("program.yaml:")[2] for problem in problems]
    assert told == snapshot(
        [
            '8:3: adapter_options.comand: no such field; did you mean "command"?',
            "8:3: adapter_options.command: must be text, not a list, or must not be empty",
            "8:3: adapter_options.command: cannot be split into words: No closing quotation",
            "8:3: adapter_options.command: there is no executable program no-such-program",
            "9:3: adapter_options.cwd: there is no such folder, relative to the scenario's folder",
            "9:3: adapter_options.input: must be one of text, json",
            "9:9: adapter_options.env.OPENAI_API_KEY: is set by Salvo, to lead the program's client to it",
            "9:9: adapter_options.env.MINE: a provider's key is never given to a command",
            "10:14: adapter_options.pass_env[0]: is set by Salvo, to lead the program's client to it",
        ]
    )


def test_a_system_prompt_that_a_command_would_never_see_is_a_problem(project: UserProject) -> None:
    write(project, "")
    file = project.folder / "scenarios/program.yaml"
    file.write_text(file.read_text().replace("runs: 1", "system_prompt: Be brief."))
    told = project.salvo("validate").stdout
    assert "a command gets this only with `input: json`" in told


def test_a_program_that_cannot_be_started_is_an_error(project: UserProject) -> None:
    write(project, "")
    project.write("broken", "no program")
    (project.folder / "broken").chmod(0o755)
    file = project.folder / "scenarios/program.yaml"
    file.write_text(file.read_text().replace(f"[{sys.executable}, agent.py]", "./broken"))
    code, result = record(project)
    assert (code, result["cause"]) == (3, "adapter")
    assert result["error"].startswith("The program ./broken could not be started: Exec format error.")


def test_the_example_runs_as_it_stands(project: UserProject) -> None:
    examples = Path(__file__).parents[4] / "examples"
    for name in ("scenarios/any_program.yaml", "agents/order_status.py"):
        project.write(name, (examples / name).read_text())
    script = by_turn(UseTools(Use("find_order", {"number": 1042})), Say("It is on its way, in Lyon."))
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        ran = project.salvo("run", "scenarios/any_program.yaml", "--record")
    assert ran.exit_code == 0, ran.output
    assert project.salvo("replay").exit_code == 0


class AccountApi:
    """A provider's whole API: it answers every path, and remembers what was asked."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.usage: dict[str, int] | None = {"prompt_tokens": 1_000_000, "total_tokens": 1_000_000}
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                api.paths.append(self.path)
                content = json.dumps({"data": [], **({"usage": api.usage} if api.usage else {})}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_GET  # noqa: N815 - the name that http.server calls

            def log_message(self, *_arguments: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/proxy/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()


CURIOUS_AGENT = """
import http.client, json, os, urllib.parse

def ask(method, path, body=None):
    base = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
    connection = http.client.HTTPConnection(base.netloc)
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    connection.request(method, base.path + path, body and json.dumps(body), headers)
    reply = connection.getresponse()
    return reply.status, reply.read().decode()

"""


def record_with(project: UserProject, api: AccountApi, *options: str) -> tuple[Result, dict[str, Any]]:
    project.environ = {"OPENAI_API_KEY": OPENAI_KEY, "OPENAI_BASE_URL": api.url}
    ran = project.salvo("run", "--record", *options)
    return ran, json.loads(project.runs()[-1].read_text())


def test_a_program_reaches_only_the_paths_that_ask_a_model_and_is_told_the_setting(project: UserProject) -> None:
    paths = ["/files", "/fine_tuning/jobs", "/../../admin/keys", "/%2e%2e/%2e%2e/admin/keys", "/models/..%2f..%2fadmin"]
    agent = f"import sys\nfor path in {paths}: print(*ask('GET', path), file=sys.stderr)\nraise SystemExit(1)"
    write(project, CURIOUS_AGENT + agent)
    with AccountApi() as api:
        ran, result = record_with(project, api)
    assert api.paths == []
    assert (ran.exit_code, result["cause"]) == (1, "exit")
    assert [event["type"] for event in result["trace"]] == ["model_error"] * 5
    assert "adapter_options.allow_paths" in result["trace"][0]["data"]["message"]
    assert "was not forwarded" in result["error"]


def test_a_scenario_allows_other_paths_and_the_recording_can_be_replayed(project: UserProject) -> None:
    agent = "ask('GET', '/files?token=AbC123'); ask('GET', '/batches/1')\nprint('{\"confirmation\": \"QWERTZ\"}')"
    write(project, CURIOUS_AGENT + agent, "allow_paths: [/files, /v1/batches/*]")
    with AccountApi() as api:
        ran, _ = record_with(project, api)
    assert ran.exit_code == 0, ran.output
    assert api.paths == ["/proxy/v1/files?token=AbC123", "/proxy/v1/batches/1"]
    assert "AbC123" not in project.everything_stored()
    assert project.salvo("replay").exit_code == 0


def test_a_recording_of_paths_that_are_no_longer_allowed_can_still_be_replayed(project: UserProject) -> None:
    write(
        project,
        CURIOUS_AGENT + "ask('GET', '/files')\nprint('{\"confirmation\": \"QWERTZ\"}')",
        "allow_paths: [/files]",
    )
    with AccountApi() as api:
        record_with(project, api)
    for file in [project.folder / "scenarios/program.yaml", *(project.store / "recordings").rglob("request.json")]:
        file.write_text(re.sub(r'"allow_paths": \[[^]]*\]', '"ignored": []', file.read_text()))
    for file in [project.folder / "scenarios/program.yaml", *(project.store / "recordings").rglob("request.json")]:
        file.write_text(file.read_text().replace("  allow_paths: [/files]\n", "").replace(',\n    "ignored": []', ""))
    replayed = project.salvo("replay")
    assert "Identical" in replayed.stdout, replayed.output


@pytest.mark.parametrize(
    "rule", ["files", "/*", "/v1/*", "/v1", "/", "/../keys", "/a//b", "/a/*/b", "/%66iles", "/a?b=c"]
)
def test_a_path_that_cannot_be_allowed_is_a_problem_of_the_scenario(project: UserProject, rule: str) -> None:
    write(project, "", f"allow_paths: ['{rule}']")
    validated = project.salvo("validate")
    assert validated.exit_code == 2
    assert "adapter_options.allow_paths[0]" in validated.stdout


def test_max_cost_counts_embeddings_and_stops(project: UserProject) -> None:
    agent = "ask('POST', '/embeddings', {'model': 'text-embedding-3-small', 'input': 'x'})"
    write(project, CURIOUS_AGENT + agent + '\nprint(\'{"confirmation": "QWERTZ"}\')')
    with AccountApi() as api:
        ran, result = record_with(project, api, "-n", "5", "-j", "1", "--max-cost", "0.01")
    assert result["metrics"]["cost"] == pytest.approx(0.02)
    assert len(api.paths) == 1
    assert "the budget of $0.01 is spent" in ran.stdout
    assert "does not count every call" not in ran.stderr


def test_max_cost_counts_what_it_can_in_a_run_with_a_call_without_a_price_and_says_so_once(
    project: UserProject,
) -> None:
    agent = (
        "for model in ('mystery', 'text-embedding-3-small'): ask('POST', '/embeddings', {'model': model, 'input': 'x'})"
    )
    write(project, CURIOUS_AGENT + agent + '\nprint(\'{"confirmation": "QWERTZ"}\')')
    with AccountApi() as api:
        ran, result = record_with(project, api, "-n", "5", "-j", "1", "--max-cost", "0.03")
    assert result["metrics"]["cost"] is None
    assert len(api.paths) == 4, "the second run reaches the limit"
    assert ran.stderr.count("--max-cost does not count every call: the cost of openai/mystery is not known.") == 1
