"""Conversations: a user who says more than one sentence, on the command line."""

import json
import sys
from collections.abc import Callable

import pytest
from inline_snapshot import snapshot

from tests.cli.salvo.test_run import tidy
from tests.support.project import UserProject
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say, Use, UseTools

RETURN = """
scenario: return
adapter: openai
model: gpt-5.4-mini
system_prompt: You work for a shop.
tools:
  - {name: find_order, parameters: {type: object, properties: {id: {type: string}}}, response: {total: 25}}
turns:
  - user: I want to return my kettle.
    assertions:
      - {type: tool_sequence, name: no tool yet, expected: []}
      - {type: text, name: asks, contains_all: ["order"]}
  - user: It is order A-1001.
    assertions:
      - {type: tool_sequence, name: finds it, expected: [find_order]}
assertions:
  - {type: text, name: brief, at: every turn, words: {max: 10}}
  - {type: jmespath, name: two turns, path: length(turns), operator: eq, value: 2}
  - {type: jmespath, name: first call, path: "turns[1].tool_calls[0].arguments.id", operator: eq, value: A-1001}
"""


def shop(request: ProviderRequest) -> Answer:
    """The agent: it asks for the order, finds it, and answers."""
    messages = request.body["messages"]
    users = [message for message in messages if message["role"] == "user" and isinstance(message["content"], str)]
    if len(users) == 1:
        return Say("Which order is it?", thinking="A kettle.")
    last = messages[-1]
    if last["role"] == "tool" or (last["role"] == "user" and isinstance(last["content"], list)):
        return Say("You get 25 back.")
    return UseTools(Use("find_order", {"id": "A-1001"}), thinking="Let me look.")


@pytest.mark.parametrize("adapter, model", [("openai", "gpt-5.4-mini"), ("anthropic", "claude-opus-4-8")])
def test_a_conversation_runs_is_judged_per_turn_and_replays_without_its_provider(
    project: UserProject, adapter: str, model: str
) -> None:
    project.write("return.yaml", RETURN)
    with LoopbackProvider(shop) as provider:
        project.reach(provider)
        ran = project.salvo("run", "return.yaml", "--record", "--adapter", adapter, "--model", model)
    assert ran.exit_code == 0, ran.output
    contents = [message["content"] for message in provider.requests[1].body["messages"]]
    assert contents[-1] == "It is order A-1001."
    if adapter == "anthropic":  # what it thought is sent back as it was
        assert contents[1][0]["thinking"] == "A kettle."
    project.environ = {}
    replayed = project.salvo("replay", "latest")
    assert replayed.exit_code == 0, replayed.output
    assert "Identical" in replayed.stdout
    stored = json.loads(project.runs()[0].read_text())
    assert [(turn["user"], turn["agent"]) for turn in stored["turns"]] == [
        ("I want to return my kettle.", "Which order is it?"),
        ("It is order A-1001.", "You get 25 back."),
    ]
    assert [(turn["first_call"], turn["call_count"]) for turn in stored["turns"]] == [(0, 0), (0, 1)]
    assert [item["turn"] for item in stored["eval_results"]] == [1, 1, 2, None, None, None]


def test_a_run_is_shown_as_a_conversation(project: UserProject) -> None:
    project.write("return.yaml", RETURN.replace("max: 10", "max: 3"))
    with LoopbackProvider(shop) as provider:
        project.reach(provider)
        assert project.salvo("run", "return.yaml").exit_code == 1
    shown = tidy(project.salvo("report", project.runs()[0].stem).stdout)
    assert shown.partition("\nTool calls")[0] == snapshot("""\
return  run 1  failed (assertion)  score: 0.83
RUN-0001  openai/gpt-5.4-mini  WHEN

Conversation
  1. user  I want to return my kettle.
     agent  Which order is it?  (TIME)
  2. user  It is order A-1001.
       find_order  {"id": "A-1001"}
     agent  You get 25 back.  (TIME)

Assertions
  passed  no tool yet (tool_sequence), weight 1, turn 1
  passed  asks (text), weight 1, turn 1
  passed  finds it (tool_sequence), weight 1, turn 2
  failed  brief (text), weight 1, turn 1
          2 of 2 turns failed; turn 1: the final output has 4 words; it is "Which order is it?"
          expected  {"words": {"max": 3}}
          actual    "Which order is it?"
  passed  two turns (jmespath), weight 1
  passed  first call (jmespath), weight 1
""")


SIMULATED = """
scenario: simulated
adapter: anthropic
model: claude-haiku-4-5
runs: 2
user:
  model: openai/gpt-5.4-mini
  persona: impatient, writes short sentences
  goal: get the price of one kettle back
  knows: {order_id: A-1001, email: a@example.com}
  stop: {max_turns: 4}
assertions:
  - {type: jmespath, path: "turns[-1].agent", operator: contains, value: "25"}
"""


def desk(request: ProviderRequest) -> Answer:
    return Say("You get 25 back." if "A-1001" in request.last_user else "Which order is it?")


def with_user(*turns: str | list[str]) -> Callable[[ProviderRequest], Answer]:
    """The simulated user gives the raw answers of each turn, in each run anew, one for each try; then it is done."""

    def answer(request: ProviderRequest) -> Answer:
        if request.protocol == "anthropic":
            return desk(request)
        prompt = request.messages[1]["content"]
        turn = prompt.count('{"user":')
        answers = turns[turn] if turn < len(turns) else '{"message": "", "done": true}'
        return Say(answers if isinstance(answers, str) else answers[request.turn])

    return answer


def says(message: str) -> str:
    return json.dumps({"message": message, "done": False})


def test_a_simulated_user_speaks_in_its_own_lanes_and_costs_apart(project: UserProject) -> None:
    project.write("simulated.yaml", SIMULATED)
    script = with_user(says("My kettle is broken. I want my money."), says("Order A-1001."))
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        ran = project.salvo("run", "simulated.yaml", "--record")
    assert ran.exit_code == 0, ran.output
    assert "; user: $" in ran.stdout
    stored = json.loads(project.runs()[0].read_text())
    assert stored["user_cost"] > 0
    assert [turn["user"] for turn in stored["turns"]] == ["My kettle is broken. I want my money.", "Order A-1001."]
    assert all(f'"user/{number}"' in project.everything_stored() for number in (1, 2, 3))
    project.environ = {}
    replayed = project.salvo("replay", "latest")
    assert replayed.exit_code == 0, replayed.output
    assert "Identical" in replayed.stdout


def test_a_simulated_user_that_breaks_its_rules_is_corrected(project: UserProject) -> None:
    project.write("simulated.yaml", SIMULATED)
    script = with_user([says("I want my money for order A-7777."), says("How can I help you?"), says("A-1001!")])
    with LoopbackProvider(script) as provider:
        project.reach(provider)
        assert project.salvo("run", "simulated.yaml", "-n", "1").exit_code == 0
    asked = [request for request in provider.requests if request.protocol == "openai"]
    assert 'states "a-7777"' in asked[1].messages[-1]["content"]
    assert "speaks as the agent" in asked[2].messages[-1]["content"]
    turns = json.loads(project.runs()[0].read_text())["turns"]
    assert [(turn["user"], turn["user_tries"]) for turn in turns] == [("A-1001!", 3)]


def test_a_simulated_user_that_cannot_be_corrected_is_an_error_outside_the_pass_rate(project: UserProject) -> None:
    project.write("simulated.yaml", SIMULATED)
    with LoopbackProvider(with_user([says("How can I help you today?")] * 3)) as provider:
        project.reach(provider)
        ran = project.salvo("run", "simulated.yaml", "-n", "1", "--json")
    assert ran.exit_code == 3
    [batch] = json.loads(ran.stdout)["batches"]
    assert (batch["errors"], batch["completed"], batch["error_groups"][0]["cause"]) == (1, 0, "simulator")
    assert (batch["simulator_errors"], batch["pass_rate_bounds"]) == (1, [0.0, 1.0])


CODE = '''
import json, sys, urllib.request, os


def ask(messages):
    """Ask the model over the gateway, without a library."""
    body = json.dumps({"model": "gpt-5.4-mini", "messages": messages}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]


def per_turn():
    print(ask(json.load(sys.stdin)["messages"]))


def per_process():
    said = []
    for line in sys.stdin:
        said.append({"role": "user", "content": json.loads(line)["user_message"]})
        said.append({"role": "assistant", "content": ask(said)})
        print(json.dumps({"message": said[-1]["content"]}), flush=True)


if __name__ == "__main__":
    per_process() if sys.argv[1] == "process" else per_turn()
'''

AGENTS = '''
from salvo import BaseAdapter
from salvo.engine.chat.base import ChatRequest, UserMessage, AssistantMessage


class Remembers(BaseAdapter):
    """One object holds the conversation."""

    def __init__(self):
        self.said = ()

    async def respond(self, message):
        self.said += (UserMessage(message),)
        model = self.context.chat_model("openai/gpt-5.4-mini")
        reply = await model.complete(ChatRequest(self.said, lane="agent"))
        self.said += (AssistantMessage(reply.text),)
        return reply.text


class Reads(BaseAdapter):
    """Each turn starts from the transcript."""

    async def run(self, request):
        from salvo import AdapterResponse

        said = tuple(
            UserMessage(item["content"]) if item["role"] == "user" else AssistantMessage(item["content"])
            for item in request.messages
        )
        model = self.context.chat_model("openai/gpt-5.4-mini")
        return AdapterResponse((await model.complete(ChatRequest(said, lane="agent"))).text)


class Customer:
    def __init__(self, order):
        self.order = order

    def next_message(self, transcript):
        if not transcript:
            return "I want to return my kettle."
        return f"It is order {self.order}." if len(transcript) == 2 else None
'''

TWO_TURNS = """
turns: [{user: I want to return my kettle.}, {user: It is order A-1001.}]
assertions:
  - {type: text, contains_all: [order], at: turn 1}
  - {type: text, contains_all: ["25"], at: turn 2}
  - {type: jmespath, path: "length(turns[1].trace)", operator: eq, value: 1}
"""
COMMAND = "adapter: command\nadapter_options: {command: [%s, code.py, %s], input: json, conversation: %s}\n"


@pytest.mark.parametrize(
    "adapter",
    [
        "adapter: agents:Remembers\n",
        "adapter: agents:Reads\n",
        COMMAND % (sys.executable, "turn", "turn"),
        COMMAND % (sys.executable, "process", "process"),
    ],
    ids=["respond", "messages", "command-per-turn", "command-per-conversation"],
)
def test_a_conversation_with_any_agent_replays_without_its_provider(project: UserProject, adapter: str) -> None:
    project.write("talk.yaml", f"scenario: talk\n{adapter}{TWO_TURNS}")
    project.write("code.py", CODE)
    project.write("agents.py", AGENTS)
    with LoopbackProvider(desk) as provider:
        project.reach(provider)
        ran = project.salvo("run", "talk.yaml", "--record")
    assert ran.exit_code == 0, ran.output
    assert [message["role"] for message in provider.requests[1].messages] == ["user", "assistant", "user"]
    project.environ = {}
    replayed = project.salvo("replay", "latest")
    assert replayed.exit_code == 0, replayed.output
    assert "Identical" in replayed.stdout


def test_a_user_in_python_is_listed_as_code_and_its_messages_are_replayed(project: UserProject) -> None:
    user = "user: {python: agents:Customer, options: {order: A-1001}}\n"
    project.write(
        "talk.yaml", "scenario: talk\nadapter: openai\nmodel: gpt-5.4-mini\n" + user + TWO_TURNS.split("\n", 2)[2]
    )
    project.write("agents.py", AGENTS)
    assert "agents:Customer" in project.salvo("validate", "talk.yaml", "--trust").stdout
    with LoopbackProvider(desk) as provider:
        project.reach(provider)
        ran = project.salvo("run", "talk.yaml", "--record")
    assert ran.exit_code == 0, ran.output
    project.environ = {}
    project.write("agents.py", "raise SystemExit('a replay does not import this')")
    replayed = project.salvo("replay", "latest")
    assert replayed.exit_code == 0, replayed.output
    assert "Identical" in replayed.stdout


def test_a_divergence_names_its_turn(project: UserProject) -> None:
    project.write("talk.yaml", f"scenario: talk\nadapter: agents:Reads\n{TWO_TURNS}")
    project.write("agents.py", AGENTS)
    with LoopbackProvider(desk) as provider:
        project.reach(provider)
        project.salvo("run", "talk.yaml", "--record")
    project.environ = {}
    project.write("agents.py", AGENTS.replace("for item in request.messages", "for item in request.messages[-2:]"))
    replay = project.process("replay", "latest")
    shown, _ = replay.communicate()
    assert replay.returncode == 1
    assert "In turn 2: Nothing was recorded" in shown
