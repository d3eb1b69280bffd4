"""Runs whose calls overlap: a replay compares what each call asked and got, and the order that the program imposed."""

import json
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.project import UserProject
from tests.support.provider import Answer, Fault, LoopbackProvider, ProviderRequest, Say, Scripted

CHAINS = """
import asyncio, json, os, pathlib, random
from salvo import AdapterRequest, AdapterResponse, BaseAdapter
from salvo.engine.chat.base import ChatRequest, UserMessage


class Chains(BaseAdapter):
    "Runs chains of calls at the same time; the calls of a chain follow each other."

    async def run(self, request: AdapterRequest) -> AdapterResponse:
        plan = json.loads(pathlib.Path("plan.json").read_text())
        model = self.context.chat_model("openai/gpt-5.4-mini")

        async def pause() -> None:
            await asyncio.sleep(random.choice((0, 0, 0.001, 0.004)))  # other tasks run in between, each time otherwise

        async def chain(steps: list[str]) -> list[str]:
            texts = []
            for step in steps:
                await pause()
                if step.startswith("tool"):
                    texts.append((await self.context.toolbox.call("look_up", {"what": step})).result)
                else:
                    reply = await model.complete(ChatRequest(messages=(UserMessage(step),), lane="agent"))
                    texts.append(reply.text)
            return texts

        return AdapterResponse([await asyncio.gather(*map(chain, phase)) for phase in plan])
"""

LOOK_UP = """
import asyncio, random

async def look_up(what: str) -> str:
    "Looks something up."
    await asyncio.sleep(random.choice((0, 0.001, 0.004)))
    return f"found {what}"
"""

SCENARIO = """
scenario: overlapping
adapter: {adapter}
user_message: Go.
{more}
assertions:
  - {{type: jmespath, path: final_output, operator: exists, value: true}}
"""

IDENTICAL = "Identical: "


def write(project: UserProject, adapter: str, more: str = "") -> None:
    for file in (project.folder / "scenarios").iterdir():
        file.unlink()
    project.write("scenarios/overlapping.yaml", SCENARIO.format(adapter=adapter, more=more))


def record(project: UserProject, script: Scripted) -> dict[str, Any]:
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        ran = project.salvo("run", "--record")
    project.environ = {}
    assert project.runs(), ran.output
    result: dict[str, Any] = json.loads(project.runs()[-1].read_text())
    return result


def slow_echo(request: ProviderRequest) -> Answer:
    """Answer after a time that depends on the request, so that replies come in another order than requests."""
    digits = sum(map(ord, request.last_user)) * 7919 % 13
    return Say(f"re: {request.last_user}", delay=digits / 1000, fingerprint=f"fp_{digits}")


_steps = st.lists(st.sampled_from(["model", "tool"]), min_size=1, max_size=3)
_plans = st.lists(st.lists(_steps, min_size=1, max_size=5), min_size=1, max_size=2)
REPLAYS = 4  # of each example: 1,200 in `make test-load`


# The load profile has many examples. They share one project, in which each one records a run of its own.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@pytest.mark.timeout(600)
@given(plan=_plans)
def test_random_interleavings_of_calls_are_always_replayed_as_identical(
    project: UserProject, plan: list[list[list[str]]]
) -> None:
    write(project, "chains:Chains", "tools: [look_up]")
    project.write("chains.py", CHAINS)
    project.write("tools.py", LOOK_UP)
    numbered = [
        [[f"{step} {a}.{b}.{c}" for c, step in enumerate(chain)] for b, chain in enumerate(phase)]
        for a, phase in enumerate(plan)
    ]
    (project.folder / "plan.json").write_text(json.dumps(numbered))
    result = record(project, slow_echo)
    assert result["outcome"] == "passed", result
    for _ in range(REPLAYS):
        replayed = project.salvo("replay", result["run_id"])
        assert (replayed.exit_code, IDENTICAL in replayed.stdout) == (0, True), replayed.stdout


SEQUENCE = """
import json, pathlib
from salvo import AdapterRequest, AdapterResponse, BaseAdapter
from salvo.engine.chat.base import ChatRequest, UserMessage


class Sequence(BaseAdapter):
    async def run(self, request: AdapterRequest) -> AdapterResponse:
        model = self.context.chat_model("openai/gpt-5.4-mini")
        texts = {}
        for step in json.loads(pathlib.Path("order.json").read_text()):
            if step.startswith("tool"):
                texts[step] = (await self.context.toolbox.call("look_up", {"what": step})).result
            else:
                reply = await model.complete(ChatRequest(messages=(UserMessage(step),), lane="agent"))
                texts[step] = reply.text
        return AdapterResponse(dict(sorted(texts.items())))
"""


@pytest.mark.parametrize(
    "order, early",
    [
        (["b", "a", "tool c"], "a request to /chat/completions"),
        (["a", "tool c", "b"], "the call look_up({'what': 'tool c'})"),
    ],
)
def test_calls_that_were_made_one_after_the_other_must_keep_their_order(
    project: UserProject, order: list[str], early: str
) -> None:
    write(project, "sequence:Sequence", "tools: [look_up]")
    project.write("tools.py", LOOK_UP)
    project.write("sequence.py", SEQUENCE)
    project.write("order.json", json.dumps(["a", "b", "tool c"]))
    record(project, slow_echo)
    assert project.salvo("replay").exit_code == 0
    project.write("order.json", json.dumps(order))
    replayed = project.salvo("replay")
    assert replayed.exit_code == 1
    assert (
        f"Diverged. The agent now makes {early} before other calls that had been answered by then when it was recorded."
        in replayed.stdout
    )


def test_a_difference_among_overlapping_calls_is_shown_at_the_call_that_differs(project: UserProject) -> None:
    write(project, "chains:Chains", "tools: [look_up]")
    project.write("chains.py", CHAINS)
    project.write("tools.py", LOOK_UP)
    (project.folder / "plan.json").write_text(json.dumps([[["model a"], ["model b"], ["model c"]]]))
    result = record(project, slow_echo)
    file = project.store / "recordings" / result["run_id"] / "response.json"
    recording = json.loads(file.read_text())
    replies = json.dumps(recording["responses"]).replace("re: model b", "re: another")
    file.write_text(json.dumps({**recording, "responses": json.loads(replies)}))
    replayed = json.loads(project.salvo("replay", "--json").stdout)
    place = next(number for number, event in enumerate(result["trace"]) if event["data"]["text"] == "re: model b")
    paths = {item["path"] for item in replayed["differences"]}
    assert paths == {"final_output[0][1][0]", "final_text", f"trace[{place}].data.text"}


EIGHT_AT_ONCE = """
import json, os, sys, threading, urllib.error, urllib.request

def ask(text):
    body = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": text}]}
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(), headers)
    try:
        answers[text] = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        answers[text] = error.code

answers = {}
for phase in ("first", "second"):
    threads = [threading.Thread(target=ask, args=(f"{phase} {number}",)) for number in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print(json.dumps(dict(sorted(answers.items()))))
sys.exit(any(isinstance(answers[f"second {number}"], int) for number in range(8)))
"""


def command(project: UserProject, program: str) -> None:
    write(project, "command", f"adapter_options: {{command: [{sys.executable}, agent.py]}}")
    project.write("agent.py", program)


def test_a_command_with_eight_calls_at_once_is_replayed_as_identical(project: UserProject) -> None:
    command(project, EIGHT_AT_ONCE)
    result = record(project, slow_echo)
    assert len(result["final_output"]) == result["metrics"]["model_calls"] == 16
    for _ in range(5):
        replayed = project.salvo("replay")
        assert (replayed.exit_code, IDENTICAL in replayed.stdout) == (0, True), replayed.stdout


@pytest.mark.parametrize("phase, outcome", [("first", "passed"), ("second", "error")])
def test_a_fault_among_calls_at_once_counts_the_same_in_a_replay(
    project: UserProject, phase: str, outcome: str
) -> None:
    """Whether the program recovered depends on which calls it made afterwards, not on which were answered first."""

    def answer(request: ProviderRequest) -> Answer:
        late = replace(Fault.unauthorized(), delay=0.3)  # all eight have been made by then
        return late if request.last_user == f"{phase} 3" else slow_echo(request)

    command(project, EIGHT_AT_ONCE)
    assert record(project, answer)["outcome"] == outcome
    for _ in range(5):
        replayed = project.salvo("replay")
        assert (replayed.exit_code, IDENTICAL in replayed.stdout) == (0, True), replayed.stdout


STREAMS_AT_ONCE = """
import asyncio, json
from openai import AsyncOpenAI

async def ask(client, text):
    stream = await client.chat.completions.create(
        model="gpt-5.4-mini", messages=[{"role": "user", "content": text}], stream=True
    )
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

async def main():
    async with AsyncOpenAI() as client:
        first = await asyncio.gather(*(ask(client, f"first {number}") for number in range(8)))
        return first + await asyncio.gather(*(ask(client, f"second {text}") for text in first))

print(json.dumps(asyncio.run(main())))
"""


@pytest.mark.load
def test_concurrent_streams_of_an_official_sdk_are_replayed_as_identical(project: UserProject) -> None:
    command(project, STREAMS_AT_ONCE)
    result = record(project, slow_echo)
    assert result["final_output"][8] == "re: second re: first 0"
    assert result["metrics"]["model_calls"] == 16
    assert result["metrics"]["tokens"]["output"] > 0
    for _ in range(3):
        replayed = project.salvo("replay")
        assert (replayed.exit_code, IDENTICAL in replayed.stdout) == (0, True), replayed.stdout


def test_a_note_on_overlapping_requests_is_shown_once_for_each_run(project: UserProject) -> None:
    write(project, "chains:Chains", "tools: [look_up]\nruns: 2")
    project.write("chains.py", CHAINS)
    project.write("tools.py", LOOK_UP)
    same = [["the same"], ["the same"]]
    (project.folder / "plan.json").write_text(json.dumps([same, same, same]))
    result = record(project, Say("yes", delay=0.2))
    assert project.salvo("replay", result["run_id"]).stdout.count("Identical requests") == 1
    replayed = project.salvo("replay", result["batch_id"])
    assert "Note (2 runs): Identical requests" in replayed.stdout, replayed.stdout
