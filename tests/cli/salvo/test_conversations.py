"""Conversations: a user who says more than one sentence, on the command line."""

import json
import sys

import pytest
from inline_snapshot import snapshot

from tests.cli.salvo.test_run import tidy
from tests.scenarios.run.adapters.test_command import is_gone
from tests.support.project import UserProject
from tests.support.provider import Answer, Fault, LoopbackProvider, ProviderRequest, Say, Script, Use, UseTools
from tests.support.simulated_user import SPEAKERS, asks_who_speaks, knows_who_speaks, name_speakers

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


def with_user(*turns: str | list[str]) -> Script:
    """The simulated user gives the raw answers of each turn, in each run anew, one for each try; then it is done.

    It knows who says what, and takes its own messages for the user's.
    """

    def answer(request: ProviderRequest) -> Answer:
        if request.protocol == "anthropic":
            return desk(request)
        prompt = request.messages[1]["content"]
        turn = prompt.count('{"user":')
        answers = turns[turn] if turn < len(turns) else '{"message": "", "done": true}'
        return Say(answers if isinstance(answers, str) else answers[request.turn])

    return knows_who_speaks(answer)


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
    asked = [request for request in provider.requests if request.protocol == "openai" and not asks_who_speaks(request)]
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


def test_a_user_who_swaps_roles_in_words_that_no_rule_knows_is_corrected(project: UserProject) -> None:
    swapped = "I am sorry that I am able to deliver this information that I will share it with you."
    turns = with_user([says(swapped), says("I want my money."), says("It is A-1001.")])

    def answer(request: ProviderRequest) -> Answer:
        if asks_who_speaks(request):
            speaker = (
                "agent" if swapped in request.last_user else "nobody" if "money." in request.last_user else "person"
            )
            return Say(name_speakers(request, speaker))
        return turns(request)

    project.write("simulated.yaml", SIMULATED)
    with LoopbackProvider(answer) as provider:
        project.reach(provider)
        assert project.salvo("run", "simulated.yaml", "-n", "1", "--record").exit_code == 0
    written = [
        request for request in provider.requests if request.protocol == "openai" and not asks_who_speaks(request)
    ]
    assert "It speaks as the agent." in written[1].messages[-1]["content"]
    assert "Nobody would say it to an agent" in written[2].messages[-1]["content"]
    turns_stored = json.loads(project.runs()[0].read_text())["turns"]
    assert [(turn["user"], turn["user_tries"]) for turn in turns_stored] == [("It is A-1001.", 3)]
    project.environ = {}
    replayed = project.salvo("replay", "latest")
    assert replayed.exit_code == 0, replayed.output


@pytest.mark.parametrize("answer_about_lines", ["always the user", "no JSON", "the provider fails"])
def test_a_model_that_does_not_know_who_speaks_cannot_be_the_user(
    project: UserProject, answer_about_lines: str
) -> None:
    turns = with_user(says("I want my money."))

    def answer(request: ProviderRequest) -> Answer:
        if asks_who_speaks(request):
            if answer_about_lines == "the provider fails":
                return Fault.unauthorized()
            same = dict.fromkeys(SPEAKERS, "person")
            return Say("The user." if answer_about_lines == "no JSON" else name_speakers(request, **same))
        return turns(request)

    project.write("simulated.yaml", SIMULATED)
    with LoopbackProvider(answer) as provider:
        project.reach(provider)
        ran = project.salvo("run", "simulated.yaml", "-n", "1")
    assert ran.exit_code == 3
    assert not any(request.protocol == "anthropic" for request in provider.requests)  # the agent heard nothing
    assert {
        "always the user": "The simulated user cannot be relied on. The model cannot tell what a user says",
        "no JSON": "Asked who would say its message, the model gave no answer that can be used.",
        "the provider fails": "The simulated user could not be asked: ",
    }[answer_about_lines] in ran.stdout
    stored = json.loads(project.runs()[0].read_text())
    assert stored["cause"] == "simulator"
    assert stored["user_cost"] > 0


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


def test_what_is_wrong_in_a_conversation_is_named_with_its_place(project: UserProject) -> None:
    project.write(
        "wrong.yaml",
        """
        scenario: wrong
        adapter: openai
        model: gpt-5.4-mini
        user_message: Hello.
        turns:
          - user: Hi.
            assertions: [{type: latency_limit, max_seconds: 5, at: end}]
        assertions:
          - {type: latency_limit, max_seconds: 5, at: turn 2}
          - {type: latency_limit, max_seconds: 5, at: sometimes}
          - {type: all_of, assertions: [{type: latency_limit, max_seconds: 5, at: end}]}
        """,
    )
    project.write(
        "user.yaml",
        """
        scenario: user
        adapter: openai
        model: gpt-5.4-mini
        user: {model: nobody/x, goal: g, python: "nothing:Here"}
        assertions: [{type: latency_limit, max_seconds: 5, at: turn 11}]
        """,
    )
    project.write(
        "none.yaml",
        """
        scenario: none
        adapter: openai
        model: gpt-5.4-mini
        user_message: Hello.
        assertions: [{type: latency_limit, max_seconds: 5, at: every turn}]
        """,
    )
    shown = project.salvo("validate", "wrong.yaml", "user.yaml", "none.yaml")
    assert shown.exit_code == 2
    assert shown.stdout + shown.stderr == snapshot("""\
wrong.yaml:4:1: user_message: cannot be used with turns; a scenario has one of user_message, turns and user
wrong.yaml:7:56: turns[0].assertions[0].at: an assertion inside a turn is judged at that turn; leave this out
wrong.yaml:9:43: assertions[0].at: the conversation has at most 1 turn
wrong.yaml:10:43: assertions[1].at: must be "end", "every turn", or "turn 2" with the number of a turn
wrong.yaml:11:71: assertions[2].assertions[0].at: has no effect inside another assertion; give it to the outer one
user.yaml:4:1: user: needs a model or a python class, and not both
user.yaml:5:52: assertions[0].at: only a scenario with `turns` or `user` has turns
none.yaml:5:52: assertions[0].at: only a scenario with `turns` or `user` has turns
3 files, 8 problems
""")


def test_cases_fill_turns_and_users_and_private_values_are_not_stored(project: UserProject) -> None:
    project.write(
        "cases.yaml",
        """
        scenario: cases
        adapter: function:echo.answer
        cases:
          - {id: one, order: A-1001, person: Josephine Walker}
        private: [person]
        turns:
          - user: "I am {{ person }}."
            assertions: [{type: text, contains_all: ["{{ person }}"]}]
          - user: "It is order {{ order }}."
        assertions: [{type: text, contains_all: ["{{ order }}"]}]
        """,
    )
    project.write("echo.py", "def answer(request):\n    return request.user_message\n")
    assert project.salvo("run", "cases.yaml", "--record").exit_code == 0
    assert "Josephine" not in project.everything_stored()
    assert "A-1001" in project.everything_stored()


def test_a_stored_conversation_is_judged_scored_and_cached(project: UserProject) -> None:
    def answer(request: ProviderRequest) -> Answer:
        if request.protocol == "openai":
            seen = request.messages[-1]["content"]
            polite = "Which order" in seen.rpartition('"agent"')[2]
            return Say(json.dumps({"passed": polite, "reason": "so it is"}))
        return desk(request)

    judged = (
        TWO_TURNS + "  - {type: llm_judge, rubric: It asks., model: openai/gpt-5.4-mini, at: every turn, weight: 0}\n"
    )
    project.write("talk.yaml", "scenario: talk\nadapter: anthropic\nmodel: claude-haiku-4-5\n" + judged)
    with LoopbackProvider(answer) as provider:
        project.reach(provider)
        assert project.salvo("run", "talk.yaml", "--cache").exit_code == 0
        asked = len(provider.requests)
        assert project.salvo("run", "talk.yaml", "--cache").exit_code == 0
        assert len(provider.requests) == asked  # all of it came from the cache
        rejudged = json.loads(project.salvo("judge", "latest", "--times", "2", "--json").stdout)
        scored = project.salvo("score", "latest", "talk.yaml")
    assert scored.exit_code == 0, scored.output
    verdict = json.loads(project.runs()[0].read_text())["eval_results"][-1]
    assert (verdict["passed"], verdict["turn"]) == (False, 2)
    assert [turn["passed"] for turn in verdict["details"]["turns"]] == [True, False]
    assert rejudged["judgings"] == 2


@pytest.mark.skipif(sys.platform == "win32", reason="process groups")
def test_a_program_that_never_answers_is_ended_with_its_children(project: UserProject) -> None:
    project.write(
        "silent.py",
        """
        import subprocess, sys, json, time
        for number, line in enumerate(sys.stdin):
            if number == 1:
                child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
                open("child.txt", "w").write(str(child.pid))
                time.sleep(600)
            print(json.dumps({"message": "order?"}), flush=True)
        """,
    )
    options = f"adapter_options: {{command: [{sys.executable}, silent.py], conversation: process}}\n"
    project.write("talk.yaml", f"scenario: talk\nadapter: command\ntimeout: 3\n{options}{TWO_TURNS}")
    ran = project.salvo("run", "talk.yaml", "--json")
    assert ran.exit_code == 1
    stored = json.loads(project.runs()[0].read_text())
    assert (stored["outcome"], stored["cause"]) == ("failed", "timeout")
    assert [turn["agent"] for turn in stored["turns"]] == ["order?", None]
    assert is_gone(project.folder / "child.txt")


def test_a_program_that_ends_or_writes_anything_else_fails_its_run(project: UserProject) -> None:
    options = "adapter_options: {command: [%s, -c, %s], conversation: process}\n"
    for name, code in (("ends", "input()"), ("talks", "input(); print('Hello!')")):
        adapter = options % (sys.executable, json.dumps(code))
        project.write(f"{name}.yaml", f"scenario: {name}\nadapter: command\n{adapter}{TWO_TURNS}")
    ran = project.salvo("run", "ends.yaml", "talks.yaml")
    assert ran.exit_code == 1
    errors = [json.loads(file.read_text())["error"] for file in project.runs()]
    assert errors == [
        "The program ended before it answered.",
        'The program wrote a line that is not a JSON object with "message": "Hello!"',
    ]


def test_a_turn_that_a_user_never_reached_cannot_be_judged(project: UserProject) -> None:
    project.write("agents.py", AGENTS)
    project.write("echo.py", "def answer(request):\n    return 'order'\n")
    user = "user: {python: agents:Customer, options: {order: A-1001}}\n"
    late = "assertions: [{type: text, contains_all: [order], at: turn 3}]\n"
    project.write("talk.yaml", f"scenario: talk\nadapter: function:echo.answer\n{user}{late}")
    ran = project.salvo("run", "talk.yaml")
    assert ran.exit_code == 3
    assert "The conversation ended after 2 turns, so turn 3 cannot be judged." in ran.stdout


@pytest.mark.parametrize("options", [[], ["--record"]], ids=["stored", "recorded"])
def test_a_large_last_answer_is_stored_once(project: UserProject, options: list[str]) -> None:
    turns = TWO_TURNS.split("\n")[1]
    length = "assertions: [{type: jmespath, path: 'length(turns[1].agent)', operator: gt, value: 10000}]"
    project.write("talk.yaml", f"scenario: talk\nadapter: openai\nmodel: gpt-5.4-mini\n{turns}\n{length}\n")
    large = "25 " + "back and forth " * 1000
    with LoopbackProvider(lambda request: Say(large if "A-1001" in request.last_user else "Which order?")) as provider:
        project.reach(provider)
        assert project.salvo("run", "talk.yaml", *options).exit_code == 0
    assert project.everything_stored().count(large) == 1
    project.environ = {}
    [run] = project.runs()
    assert large.strip()[:60] in project.salvo("report", run.stem).stdout.partition("Assertions")[0]
    if options:
        assert "Identical" in project.salvo("replay", run.stem).stdout
    scored = project.salvo("score", "latest", "talk.yaml")
    assert scored.exit_code == 0, scored.output
