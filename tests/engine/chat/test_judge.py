"""One question, several votes: what counts as a vote, what does not, and what is kept of it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salvo.engine.chat import judge
from salvo.engine.chat.base import OutputSchema
from salvo.engine.chat.model import WiredModel
from salvo.engine.stats.voting import majority
from salvo.engine.wire.record import RecordingWire
from salvo.engine.wire.replay import ReplayWire
from salvo.engine.wire.retry import RetryingWire, RetryPolicy
from salvo.errors import OverloadedError, TapeMissError
from tests.support.clock import HeldClock
from tests.support.provider import Fault, LoopbackProvider, ProviderRequest, Say, by_turn
from tests.support.wires import REDACTOR, http_wire

SCHEMA = {
    "type": "object",
    "properties": {"passed": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["passed", "reason"],
    "additionalProperties": False,
}
QUESTION = judge.Question("You grade.", "Is it polite?", OutputSchema("grade", SCHEMA))
BOTH = pytest.mark.parametrize("name", ["openai/gpt-5.4-mini", "anthropic/claude-haiku-4-5"])


def grade(passed: bool) -> str:
    return json.dumps({"passed": passed, "reason": "because"})


async def one_vote(name: str, *answers: Say | Fault) -> tuple[judge.JudgeVote, list[ProviderRequest]]:
    with LoopbackProvider(list(answers)) as provider:
        async with http_wire(provider) as http:
            wire = RetryingWire(http, clock=HeldClock(), policy=RetryPolicy(max_attempts=2))
            vote = await judge.vote(WiredModel(name, wire), QUESTION, "judge/1")
    return vote, provider.requests


@BOTH
async def test_votes_are_asked_for_at_once_each_in_its_own_lane(name: str) -> None:
    arrivals = iter(range(10))
    with LoopbackProvider(lambda request: Say(grade(next(arrivals) != 1)), latency=0.05) as provider:
        async with http_wire(provider) as http:
            recording = RecordingWire(http, REDACTOR)
            votes = await QUESTION.poll(WiredModel(name, recording), 3, "judge/2")
    assert provider.most_at_once == 3
    assert sorted(exchange.lane for exchange in recording.tape.exchanges) == [
        "judge/2/vote-1",
        "judge/2/vote-2",
        "judge/2/vote-3",
    ]
    passed = [vote.answer and vote.answer["passed"] for vote in votes]
    assert sorted(map(str, passed)) == ["False", "True", "True"]
    assert majority(passed) is True

    replayed = await QUESTION.poll(WiredModel(name, ReplayWire(recording.tape, REDACTOR)), 3, "judge/2")
    assert [vote.answer for vote in replayed] == [vote.answer for vote in votes]


@BOTH
async def test_the_judge_is_asked_for_structured_output_at_temperature_zero(name: str) -> None:
    vote, request = await one_vote(name, Say(grade(True)))
    assert vote.answer == {"passed": True, "reason": "because"}
    assert "response_format" in request[0].body or "output_config" in request[0].body
    assert vote.replies[0].dropped == (("temperature",) if name.startswith("openai") else ())


@BOTH
async def test_a_malformed_answer_is_asked_for_once_more_with_what_was_wrong(name: str) -> None:
    vote, request = await one_vote(name, Say("Sure! " + grade(True)), Say(grade(False)))
    assert vote.answer == {"passed": False, "reason": "because"}
    assert len(vote.replies) == 2, "both were paid for"
    assert request[1].turn == 1
    assert "That answer cannot be used." in request[1].last_user


@BOTH
@pytest.mark.parametrize(
    "said, problem",
    [
        ("", "not a JSON object"),
        ("I would say yes.", "not a JSON object"),
        (f"{grade(True)} {grade(False)}", "not a JSON object"),
        ('{"passed": true, "passed": false, "reason": ""}', "a name is given twice"),
        ('{"passed": "yes", "reason": ""}', "passed: 'yes' is not of type 'boolean'"),
        ('{"passed": true}', "'reason' is a required property"),
        ('{"passed": true, "reason": "", "note": ""}', "Additional properties are not allowed"),
    ],
)
async def test_an_answer_that_stays_malformed_is_no_vote_and_its_text_is_kept(
    name: str, said: str, problem: str
) -> None:
    vote, request = await one_vote(name, Say(said))
    assert vote.answer is None
    assert vote.raw == said
    assert problem in vote.problem
    assert len(request) == 2


async def test_an_answer_cut_at_the_token_limit_says_so() -> None:
    vote, _ = await one_vote("openai/gpt-5.4-mini", Say('{"passed": tr', stop="length"))
    assert vote.problem.endswith("It was cut at the token limit.")


@BOTH
async def test_a_refusal_is_no_vote_and_is_not_asked_again(name: str) -> None:
    vote, request = await one_vote(name, Say("I cannot judge this.", stop="refusal"))
    assert (vote.answer, vote.problem, vote.raw) == (None, "The judge refused to answer.", "I cannot judge this.")
    assert len(request) == 1


@BOTH
async def test_a_provider_that_fails_is_no_vote_and_the_error_is_kept(name: str) -> None:
    vote, _ = await one_vote(name, Fault.server_error(500))
    assert vote.answer is None
    assert isinstance(vote.error, OverloadedError)


async def test_what_the_first_answer_cost_is_not_forgotten_when_asking_again_fails() -> None:
    vote, _ = await one_vote("openai/gpt-5.4-mini", Say("hm"), Fault.unauthorized())
    assert vote.answer is None
    assert (vote.raw, len(vote.replies)) == ("hm", 1)


@pytest.mark.parametrize("said, verdict", [(["yes", "yes", "?"], True), (["yes", "?", "?"], None)])
async def test_one_lost_vote_of_three_leaves_a_majority_and_two_do_not(said: list[str], verdict: bool | None) -> None:
    answers = iter(said)

    def first(request: ProviderRequest) -> Say:
        return Say(grade(True) if next(answers) == "yes" else "no idea")

    with LoopbackProvider(by_turn(first, Say("still no idea"))) as provider:
        async with http_wire(provider) as http:
            votes = await QUESTION.poll(WiredModel("gpt-5.4-mini", http), 3, "judge")
    assert majority([vote.answer and vote.answer["passed"] for vote in votes]) is verdict


async def test_a_replay_that_misses_is_not_taken_for_a_missing_vote() -> None:
    with LoopbackProvider(Say(grade(True))) as provider:
        async with http_wire(provider) as http:
            recording = RecordingWire(http, REDACTOR)
            await QUESTION.poll(WiredModel("gpt-5.4-mini", recording), 2, "judge")
    replayed = WiredModel("gpt-5.4-mini", ReplayWire(recording.tape, REDACTOR))
    with pytest.raises(TapeMissError):
        await QUESTION.poll(replayed, 3, "judge")


@given(
    answer=st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text(), max_size=4),
    before=st.sampled_from(["", "  \n", "```json\n", "```\n", "```JSON  \n"]),
)
def test_an_object_alone_or_in_a_fence_is_an_answer(answer: dict[str, object], before: str) -> None:
    after = "\n```  " if "`" in before else "\n"
    assert judge.parse_answer(before + json.dumps(answer) + after) == answer


@given(words=st.text(min_size=1).filter(lambda words: words.strip()), after=st.booleans())
def test_an_object_with_anything_around_it_is_no_answer(words: str, after: bool) -> None:
    text = '{"passed": true}' + words if after else words + '{"passed": true}'
    with pytest.raises(ValueError):
        judge.parse_answer(text)


@pytest.mark.parametrize("text", ["[]", "7", '"x"', "null", '{"a": NaN}', '{"a": -Infinity}', "[" * 100_000, "{"])
def test_json_that_is_no_plain_object_is_no_answer(text: str) -> None:
    with pytest.raises(ValueError):
        judge.parse_answer(text)
