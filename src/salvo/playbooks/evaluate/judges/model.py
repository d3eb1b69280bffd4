"""A judge that asks a model, of any provider or compatible server."""

from __future__ import annotations

from collections.abc import Mapping

from salvo.engine.chat import catalog, judge
from salvo.engine.chat.base import ChatReply, Stop, Usage
from salvo.engine.chat.model import WiredModel
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pricing import find_prices, usage_cost
from salvo.engine.wire.base import Wire
from salvo.errors import (
    AccessError,
    ContextTooLongError,
    ProviderError,
    RateLimitError,
    RequestRefusedError,
    WrongKeyError,
)
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate import prompts
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.judges.base import Case, Judge
from salvo.playbooks.evaluate.votes import CallMetrics, JudgeAnswer, RawCitation

UNPARSEABLE = "Evaluator returned unparseable response."

_HOPELESS = (AccessError, ContextTooLongError, RequestRefusedError)
"""All calls of an evaluation share key, model and texts, so one of these errors would repeat for all of them."""

MAX_NOTE_LENGTH = 20_000
"""Characters of a judge's note; an honest one has a few hundred."""

_BYTES_PER_TOKEN = 4
"""An upper estimate for prose in any script: a borderline text counts as long enough to be cached."""


class ModelJudge(Judge):
    provider: str
    prompt_id = prompts.PROMPT_ID
    deterministic = False

    def __init__(self, name: str, clock: Clock) -> None:
        provider, model = catalog.find(name)
        self.name = f"{provider.name}/{model}"
        self.provider = provider.name
        self._cache_floor = provider.facts(model).cache_floor
        self._clock = clock

    def goes_first(self, inputs: Inputs) -> bool:
        """Decide by the texts alone: if they are short, caching the instructions is not worth a second wait."""
        texts = sum(len(text.encode("utf-8", "surrogatepass")) for text in inputs.texts.values() if text)
        return texts >= self._cache_floor * _BYTES_PER_TOKEN

    async def judge(self, case: Case, wire: Wire | None) -> JudgeAnswer:
        assert wire is not None  # noqa: S101 - EvaluatorConfig.session opens one for every provider
        model = WiredModel(self.name, wire)
        question = prompts.question(case)
        vote = await judge.vote(model, question, case.lane)
        return judge_answer(vote, question, self._cost(vote.replies))

    def _cost(self, replies: tuple[ChatReply, ...]) -> float | None:
        now = self._clock.now()
        costs = [
            usage_cost(reply.usage, find_prices(self.provider, reply.model, now), batched=reply.batched)
            for reply in replies
        ]
        priced = [cost for cost in costs if cost is not None]
        return sum(priced) if len(priced) == len(costs) else None


def judge_answer(vote: judge.JudgeVote, question: judge.Question, cost_usd: float | None) -> JudgeAnswer:
    """Convert a model's vote on a question of `prompts`."""
    metrics = _call_metrics(vote.replies, question.temperature, cost_usd)
    if vote.answer is None:
        return JudgeAnswer(
            result=None,
            raw=vote.raw,
            problem=_problem(vote),
            hopeless=isinstance(vote.error, _HOPELESS),
            measured=metrics,
        )
    answer = vote.answer  # fits the schema of the question
    return JudgeAnswer(
        result=Result(answer["result"]),
        confidence=float(answer["confidence"]),
        citations=tuple(
            RawCitation(citation["span"], _bounded(citation["context"])) for citation in answer["evidence_citations"]
        ),
        notes=_bounded(answer["notes"]),
        raw=vote.raw,
        measured=metrics,
    )


_HINTS: Mapping[type[ProviderError], str] = {
    WrongKeyError: "Check the API key, and that its account may use the model.",
    RateLimitError: "Wait until the limit is reset.",
}
"""Hints that hold on every surface: the page has no environment variables and no setting for concurrency."""


def _problem(vote: judge.JudgeVote) -> str:
    """Return why there is no vote, as the command line, the page and files show it."""
    error = vote.error
    if error is not None:
        return f"{error.message} {_HINTS.get(type(error), error.hint)}".rstrip()
    return vote.problem if vote.replies[-1].stop is Stop.REFUSAL else UNPARSEABLE


def _bounded(note: str) -> str:
    """Return the note as far as a report shows it. The raw answer has all of it."""
    if len(note) <= MAX_NOTE_LENGTH:
        return note
    return f"{note[:MAX_NOTE_LENGTH]} [The note is cut here: it has {len(note):,} characters.]"


def _call_metrics(replies: tuple[ChatReply, ...], temperature: float | None, cost_usd: float | None) -> CallMetrics:
    """Return the metrics of all replies that were paid for, including an unreadable first one."""
    if not replies:
        return CallMetrics()
    last = replies[-1]
    usages = [reply.usage for reply in replies if reply.usage is not None]
    dropped = any("temperature" in reply.dropped for reply in replies)
    return CallMetrics(
        model=last.model,
        system_fingerprint=last.system_fingerprint,
        temperature=None if dropped else temperature,
        usage=sum(usages, Usage()) if len(usages) == len(replies) else None,
        cost_usd=cost_usd,
        seconds=sum(reply.seconds for reply in replies),
        calls=len(replies),
        batched=last.batched,
    )
