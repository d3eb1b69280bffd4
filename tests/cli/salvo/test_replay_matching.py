"""Which requests a replay takes for the recorded ones, and that programs get every byte of a reply again."""

import json
import sys
from typing import Any

import pytest
from click.testing import Result

from tests.support.http_api import ApiReply, ApiRequest, HttpApi
from tests.support.processes import wait_until
from tests.support.project import UserProject
from tests.support.provider import LoopbackProvider, Say
from tests.support.wires import OPENAI_KEY

PROGRAM = """
import http.client, json, os, sys, urllib.parse, uuid

def send(method, path, body=None, provider="OPENAI", **headers):
    base = urllib.parse.urlsplit(os.environ[f"{provider}_BASE_URL"])
    connection = http.client.HTTPConnection(base.netloc)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json", **headers}
    connection.request(method, base.path + path, body and json.dumps(body), headers)
    reply = connection.getresponse()
    return reply.status, reply.read().decode("latin-1")

fresh = uuid.uuid4().hex
"""

SCENARIO = """
scenario: program
adapter: command
user_message: Go.
adapter_options:
  command: [{python}, agent.py]
  allow_paths: [/files, /files/*]
{more}
assertions:
  - {{type: jmespath, path: final_text, operator: exists, value: true}}
"""


def write(project: UserProject, program: str, more: str = "") -> None:
    for file in (project.folder / "scenarios").iterdir():
        file.unlink()
    project.write("scenarios/program.yaml", SCENARIO.format(python=sys.executable, more=more))
    project.write("agent.py", PROGRAM + program)


def record(project: UserProject) -> Result:
    with LoopbackProvider(Say("hello")) as provider:
        project.reach(provider)
        ran = project.salvo("run", "--record")
    project.environ = {}
    assert ran.exit_code == 0, ran.output
    return ran


CHAT = """
body = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "hi"}], "user": fresh, "metadata": {"id": fresh}}
print(send("POST", "/chat/completions", body, idempotency_key=fresh, traceparent=f"00-{fresh}-0123456789abcdef-01")[0])
"""
MESSAGES = """
body = {"model": "claude-opus-4-8", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}], "metadata": {"user_id": fresh}}
print(send("POST", "/v1/messages", body, "ANTHROPIC", x_request_id=fresh)[0])
"""


@pytest.mark.parametrize("program", [CHAT, MESSAGES], ids=["chat completions", "messages"])
def test_what_does_not_reach_the_model_may_differ(project: UserProject, program: str) -> None:
    write(project, program)
    record(project)
    replayed = project.salvo("replay")
    assert replayed.exit_code == 0, replayed.stdout
    assert "Identical" in replayed.stdout


CHANGING = {
    "messages[*].name": """
        body = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "hi", "name": fresh}]}
        print(send("POST", "/chat/completions", body)[0])""",
    "query:trace": """
        body = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "hi"}]}
        print(send("POST", f"/chat/completions?trace={fresh}", body)[0])""",
    "header:Anthropic-Beta": """
        body = {"model": "claude-opus-4-8", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}
        print(send("POST", "/v1/messages", body, "ANTHROPIC", anthropic_beta=f"tools-{fresh}")[0])""",
}


@pytest.mark.parametrize("rule", CHANGING)
def test_a_scenario_says_what_else_may_differ(project: UserProject, rule: str) -> None:
    program = CHANGING[rule].replace("\n        ", "\n")
    write(project, program)
    record(project)
    replayed = project.salvo("replay")
    assert replayed.exit_code == 1
    assert "name it in the scenario (record: {ignore: [...]}) and record again" in replayed.stdout
    write(project, program, f'record: {{ignore: ["{rule}"]}}')
    record(project)
    replayed = project.salvo("replay")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.stdout


def test_another_prompt_is_still_a_divergence_and_only_what_counts_is_shown(project: UserProject) -> None:
    write(project, CHAT)
    record(project)
    project.write("agent.py", (PROGRAM + CHAT).replace('"content": "hi"', '"content": "bye"'))
    replayed = project.salvo("replay")
    assert replayed.exit_code == 1
    assert 'messages[0].content: recorded "hi", now "bye"' in replayed.stdout
    assert "metadata" not in replayed.stdout
    assert "user:" not in replayed.stdout


@pytest.mark.parametrize("rule", ["header:", "query:a b", "messages[", "a..b", ""])
def test_a_rule_that_means_nothing_is_an_error_of_the_scenario(project: UserProject, rule: str) -> None:
    write(project, CHAT, f'record: {{ignore: ["{rule}"]}}')
    validated = project.salvo("validate")
    assert validated.exit_code == 2
    assert "record.ignore[0]: must" in validated.output


REPLIES = [
    (400, b'{"detail" : "no such\\u0020thing",\n\t"loc":["a" , 1.50]}'),
    (201, b'{ "id": "file-1" , "object":"file"}\n'),
    (200, b'{\n    "four": "spaces"\n}'),
    (200, b'{"a": "caf\xc3\xa9", "b": "caf\\u00e9"}'),
    (200, b'{"a":1,"a":2}'),
    (404, b"<html>\r\nnot here \xff</html>"),
    (202, b""),
]


@pytest.mark.parametrize("status, body", REPLIES)
def test_a_program_gets_every_byte_of_a_reply_of_any_shape_again(
    project: UserProject, status: int, body: bytes
) -> None:
    write(project, "print(json.dumps(send('GET', '/files')))")
    with HttpApi(lambda _: ApiReply(body, status)) as api:
        project.environ = {"OPENAI_API_KEY": OPENAI_KEY, "OPENAI_BASE_URL": api.url}
        assert project.salvo("run", "--record").exit_code == 0
    project.environ = {}
    result: dict[str, Any] = json.loads(project.runs()[-1].read_text())
    shown = body.decode("utf-8", "replace").encode() if status >= 400 else body
    assert result["final_output"] == [status, shown.decode("latin-1")]
    replayed = project.salvo("replay")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.stdout


OWN_CLIENT = """
import socket
from salvo import AdapterRequest, AdapterResponse, BaseAdapter

class Mine(BaseAdapter):
    async def run(self, request: AdapterRequest) -> AdapterResponse:
        {tool}
        with socket.create_connection(("127.0.0.1", {port})):
            return AdapterResponse("done")
"""


@pytest.mark.parametrize(
    "tool, says",
    [
        ("", "2 recorded runs cannot be replayed: The adapter uses neither the wire nor the toolbox of its run"),
        (
            'await self.context.toolbox.call("search_flights", {"origin": "SFO", "destination": "JFK"})',
            "2 recorded runs may diverge in a replay: The adapter sends nothing through the wire of its run",
        ),
    ],
    ids=["nothing is recorded", "only tools are recorded"],
)
def test_recording_says_when_an_adapter_bypasses_the_wire(project: UserProject, tool: str, says: str) -> None:
    with HttpApi(lambda _: ApiReply(b"")) as api:
        port = api.url.rpartition(":")[2]
        project.write("mine.py", OWN_CLIENT.replace("{tool}", tool or "pass").replace("{port}", port))
        project.write(
            "scenarios/book_flight.yaml",
            "scenario: mine\nadapter: mine:Mine\nuser_message: Go.\nruns: 2\ntools: [search_flights]\n"
            "assertions: [{type: jmespath, path: final_output, operator: eq, value: done}]\n",
        )
        ran = project.salvo("run", "--record")
        unrecorded = project.salvo("run")
    assert ran.exit_code == 0, ran.output
    assert f"mine: {says}" in ran.stderr
    assert f"opened connections of its own (127.0.0.1:{port}), which a replay refuses." in ran.stderr
    assert "replay" not in unrecorded.stderr


def test_recording_says_nothing_where_only_tools_and_the_wire_use_the_network(project: UserProject) -> None:
    project.write(
        "tools.py",
        "import socket\n\ndef search_flights(origin: str, destination: str) -> str:\n"
        "    socket.create_connection(('127.0.0.1', PORT)).close()\n    return 'ok'\n",
    )
    project.write(
        "mine.py",
        """
        from salvo import AdapterRequest, AdapterResponse, BaseAdapter
        from salvo.engine.chat.base import ChatRequest, UserMessage

        class Mine(BaseAdapter):
            async def run(self, request: AdapterRequest) -> AdapterResponse:
                await self.context.toolbox.call("search_flights", {"origin": "SFO", "destination": "JFK"})
                model = self.context.chat_model("openai/gpt-5.4-mini")
                return AdapterResponse((await model.complete(ChatRequest(messages=(UserMessage("hi"),)))).text)
        """,
    )
    project.write(
        "scenarios/book_flight.yaml",
        "scenario: mine\nadapter: mine:Mine\nuser_message: Go.\ntools: [search_flights]\n"
        "assertions: [{type: jmespath, path: final_output, operator: eq, value: hello}]\n",
    )
    with LoopbackProvider(Say("hello")) as provider:
        tools = project.folder / "tools.py"
        tools.write_text(tools.read_text().replace("PORT", str(provider.port)))
        project.reach(provider)
        ran = project.salvo("run", "--record")
    assert ran.exit_code == 0, ran.output
    assert "replay" not in ran.stderr
    assert project.salvo("replay").exit_code == 0


def test_a_batch_of_a_version_that_knew_no_rules_can_be_resumed(project: UserProject) -> None:
    write(project, CHAT)
    record(project)
    [batch_file] = (project.store / "batches").glob("*.json")
    batch = json.loads(batch_file.read_text())
    del batch["scenario"]["record"]
    batch_file.write_text(json.dumps({**batch, "runs": 2}))
    with LoopbackProvider(Say("hello")) as provider:
        project.reach(provider)
        resumed = project.salvo("run", "--resume", "latest")
    assert resumed.exit_code == 0, resumed.output
    assert len(project.runs()) == 2


UPLOAD = """
def multipart(boundary):
    head = f'--{boundary}\\r\\ncontent-disposition: form-data; name="file"; filename="a.bin"\\r\\n\\r\\n'.encode()
    return head + b"\\x00\\xff bytes" + f"\\r\\n--{boundary}--\\r\\n".encode()

base = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
connection = http.client.HTTPConnection(base.netloc)
key = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
connection.request("POST", base.path + "/files", multipart(fresh), {**key, "content-type": f"multipart/form-data; boundary={fresh}"})
print(connection.getresponse().read().decode())
print(*send("DELETE", "/files/file-1"))
"""


def test_uploads_and_deletions_on_allowed_paths_are_forwarded_and_replayed(project: UserProject) -> None:
    def answer(request: ApiRequest) -> ApiReply:
        return ApiReply(b'{"id": "file-1", "deleted": %b}' % (b"true" if request.method == "DELETE" else b"false"))

    write(project, UPLOAD)
    with HttpApi(answer) as api:
        project.environ = {"OPENAI_API_KEY": OPENAI_KEY, "OPENAI_BASE_URL": api.url}
        ran = project.salvo("run", "--record")
    project.environ = {}
    assert ran.exit_code == 0, ran.output
    upload, deletion = api.requests
    assert b'filename="a.bin"\r\n\r\n\x00\xff bytes\r\n--' in upload.body
    assert upload.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert (deletion.method, deletion.path) == ("DELETE", "/v1/files/file-1")
    replayed = project.salvo("replay")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.stdout
    project.write("agent.py", PROGRAM + UPLOAD.replace("xff bytes", "xff other bytes"))
    assert project.salvo("replay").exit_code == 1


LEGACY = """
_, stream = send("POST", "/completions", {"model": "babbage", "prompt": "Tell me.", "stream": True})
chunks = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
print("".join(chunk["choices"][0]["text"] for chunk in chunks))
"""


def test_a_streamed_completion_of_the_older_api_is_passed_on_and_replayed(project: UserProject) -> None:
    def answer(_: ApiRequest) -> ApiReply:
        pieces = [("Once ", None), ("upon a time", None), ("", "stop")]
        choices = [{"index": 0, "text": text, "finish_reason": reason} for text, reason in pieces]
        chunks = [{"id": "cmpl-1", "object": "text_completion", "model": "babbage", "choices": [c]} for c in choices]
        stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        return ApiReply(stream.encode(), headers={"content-type": "text/event-stream"})

    write(project, LEGACY)
    with HttpApi(answer) as api:
        project.environ = {"OPENAI_API_KEY": OPENAI_KEY, "OPENAI_BASE_URL": api.url}
        ran = project.salvo("run", "--record")
    project.environ = {}
    assert ran.exit_code == 0, ran.output
    assert json.loads(project.runs()[-1].read_text())["final_text"].strip() == "Once upon a time"
    replayed = project.salvo("replay")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.stdout


STREAMED = """
base = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
connection = http.client.HTTPConnection(base.netloc)
body = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "hi"}], "stream": True}
headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
connection.request("POST", base.path + "/chat/completions", json.dumps(body), headers)
reply = connection.getresponse()
begin = reply.readline()
open("begun", "w").close()
print((begin + reply.read()).decode().count("data: [DONE]"))
"""


def test_a_program_gets_the_beginning_of_a_stream_before_its_end(project: UserProject) -> None:
    write(project, STREAMED)
    begun = project.folder / "begun"
    with LoopbackProvider(Say("one two three four five six seven eight")) as provider:
        provider.hold_streams()
        project.reach(provider)
        process = project.process("run", "--record")
        try:
            wait_until(begun.exists, 20)
        finally:
            provider.let_streams_go()
            output, errors = process.communicate(timeout=60)
    project.environ = {}
    assert process.returncode == 0, output + errors
    replayed = project.salvo("replay")
    assert (replayed.exit_code, "Identical" in replayed.stdout) == (0, True), replayed.stdout


REALTIME = """
connection = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"]).netloc)
headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "upgrade": "websocket", "connection": "Upgrade"}
connection.request("GET", "/openai/v1/realtime?model=gpt-realtime", None, headers)
raise SystemExit(connection.getresponse().status != 101)
"""


def test_a_program_that_opens_a_websocket_is_told_so_and_its_run_is_an_error(project: UserProject) -> None:
    write(project, REALTIME)
    with LoopbackProvider(Say("hello")) as provider:
        project.reach(provider)
        ran = project.salvo("run", "--record")
    assert ran.exit_code == 3
    assert "The program opens a WebSocket at /realtime, which is not supported" in ran.stdout


def test_headers_that_do_not_count_are_not_recorded(project: UserProject) -> None:
    write(project, CHAT.replace("traceparent=", "openai_organization='org-of-mine', traceparent="))
    record(project)
    stored = project.everything_stored()
    assert "traceparent" not in stored
    assert "org-of-mine" not in stored
