"""One question, k independent votes. An answer that cannot be read is no vote, and is kept as what it was."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from salvo.engine.chat.base import (
    AssistantMessage,
    ChatModel,
    ChatReply,
    ChatRequest,
    OutputSchema,
    Prompt,
    Stop,
    UserMessage,
)
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.json_schema import problems
from salvo.engine.runtime.pool import gather
from salvo.errors import ProviderError


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge is asked, and the shape its answer must have."""

    system: Prompt
    prompt: Prompt
    schema: OutputSchema
    temperature: float | None = 0.0
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class JudgeVote:
    """One answer; `answer` is None where there is none that counts, and `problem` says why.

    `replies` holds every reply that was paid for, readable or not; `error` is set where the provider gave none.
    """

    answer: dict[str, Any] | None
    raw: str
    replies: tuple[ChatReply, ...]
    problem: str = ""
    error: ProviderError | None = None


async def poll(model: ChatModel, question: Question, votes: int, lane: str) -> list[JudgeVote]:
    """Asks `votes` times at once, each in a lane of its own."""
    return await gather(vote(model, question, f"{lane}/vote-{number}") for number in range(1, votes + 1))


async def vote(model: ChatModel, question: Question, lane: str) -> JudgeVote:
    """Asks, and once more where the answer is malformed."""
    request = ChatRequest(
        messages=(UserMessage(question.prompt),),
        system=question.system,
        temperature=question.temperature,
        max_tokens=question.max_tokens,
        output_schema=question.schema,
        lane=lane,
    )
    first = await _ask(model, request, question, ())
    if first.answer is not None or first.error is not None or first.replies[-1].stop is Stop.REFUSAL:
        return first
    return await _ask(model, _again(request, first), question, first.replies)


async def _ask(model: ChatModel, request: ChatRequest, question: Question, before: tuple[ChatReply, ...]) -> JudgeVote:
    try:
        reply = await model.complete(request)
    except ProviderError as error:
        raw = before[-1].text if before else ""
        return JudgeVote(None, raw, before, problem=str(error), error=error)
    replies = (*before, reply)
    if reply.stop is Stop.REFUSAL:
        return JudgeVote(None, reply.text, replies, problem="The judge refused to answer.")
    try:
        answer = parse_answer(reply.text)
    except ValueError as error:
        cut = " It was cut at the token limit." if reply.stop is Stop.LENGTH else ""
        return JudgeVote(None, reply.text, replies, problem=f"The answer is not a JSON object: {error}.{cut}")
    wrong = problems(question.schema.schema, answer)
    if wrong:
        return JudgeVote(
            None, reply.text, replies, problem=f"The answer does not have the shape asked for: {wrong[0]}."
        )
    return JudgeVote(answer, reply.text, replies)


def _again(request: ChatRequest, malformed: JudgeVote) -> ChatRequest:
    correction = UserMessage(
        f"That answer cannot be used. {malformed.problem} Answer again with only the JSON object, nothing around it."
    )
    # No provider takes an empty message back.
    said = (AssistantMessage(malformed.raw),) if malformed.raw.strip() else ()
    return replace(request, messages=(*request.messages, *said, correction))


def parse_answer(text: str) -> dict[str, Any]:
    """The one JSON object that the text is; ValueError for anything else.

    A fence around the whole is allowed, words around it are not: what else it says may take the verdict back.
    Names given twice, NaN and Infinity are refused, because readers would differ on what they mean.
    """
    try:
        answer = json.loads(
            json_codec.strip_fence(text), object_pairs_hook=_once_each, parse_constant=json_codec.reject_constant
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(answer, dict):
        raise ValueError(f"it is {type(answer).__name__}")  # noqa: TRY004 - every flaw of an answer is a ValueError
    return answer


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found
