"""Ask a model one question several times. An answer that cannot be parsed is not a vote, but it is kept.

`fence_tag` is for fences around untrusted text in a question, which the text cannot contain.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
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
from salvo.engine.jsonio.canonical import hex_digest
from salvo.engine.jsonio.json_schema import problems
from salvo.engine.runtime.pool import gather
from salvo.errors import ProviderError
from salvo.records import record


@record
class Question:
    """A question for a judge, and the schema of its answer."""

    system: Prompt
    prompt: Prompt
    schema: OutputSchema
    temperature: float | None = 0.0
    max_tokens: int | None = None
    part: str = ""
    """Which of several questions of one assertion it is, for its lane."""

    async def poll(self, model: ChatModel, votes: int, lane: str) -> list[JudgeVote]:
        """Ask `votes` times at once, each in its own lane."""
        return await gather(vote(model, self, f"{lane}/vote-{number}") for number in range(1, votes + 1))


@record
class JudgeVote:
    """One vote. `answer` is None where there is no valid answer, and `problem` says why.

    `replies` has every reply, valid or not, because all of them cost money. `error` is set where the provider failed.
    """

    answer: dict[str, Any] | None
    raw: str
    replies: tuple[ChatReply, ...]
    problem: str = ""
    error: ProviderError | None = None


async def vote(model: ChatModel, question: Question, lane: str) -> JudgeVote:
    """Ask once, and once more where the answer is malformed."""
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
    return await _ask(model, _correction(request, first), question, first.replies)


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
        note = " It was cut at the token limit." if reply.stop is Stop.LENGTH else ""
        return JudgeVote(None, reply.text, replies, problem=f"The answer is not a JSON object: {error}.{note}")
    if violations := problems(question.schema.schema, answer):
        return JudgeVote(
            None, reply.text, replies, problem=f"The answer does not have the shape asked for: {violations[0]}."
        )
    return JudgeVote(answer, reply.text, replies)


def _correction(request: ChatRequest, malformed: JudgeVote) -> ChatRequest:
    message = UserMessage(
        f"That answer cannot be used. {malformed.problem} Answer again with only the JSON object, nothing around it."
    )
    # Providers refuse empty messages.
    answer = (AssistantMessage(malformed.raw),) if malformed.raw.strip() else ()
    return replace(request, messages=(*request.messages, *answer, message))


def parse_answer(text: str) -> dict[str, Any]:
    """Return the JSON object that the text consists of. Raises ValueError for anything else.

    A fence around it is allowed, but no other text, because that text may contradict the verdict. Duplicate names, NaN
    and Infinity are refused, because parsers treat them differently.
    """
    try:
        answer = json.loads(
            json_codec.strip_fence(text), object_pairs_hook=_unique_names, parse_constant=json_codec.reject_constant
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(answer, dict):
        raise ValueError(f"it is {type(answer).__name__}")  # noqa: TRY004 - every error in an answer is a ValueError
    return answer


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a name is given twice")
    return result


def fence_tag(contents: Sequence[str]) -> str:
    """Return a tag that none of the contents contains in any case. Equal contents have equal tags.

    It is a hash of all contents, so the author of one cannot predict it; if it occurs in them, another one is used.
    """
    text = "\0".join(contents)
    lowered = text.lower()
    tag = _digest(text)
    while tag in lowered:
        tag = _digest(tag + text)
    return tag


def _digest(text: str) -> str:
    return hex_digest(text)[:16]
