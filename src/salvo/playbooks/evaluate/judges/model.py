"""A model as the judge, of any provider or compatible server."""

from __future__ import annotations

from salvo.engine.chat import catalog, judge
from salvo.engine.chat.base import ChatReply, Stop, Usage
from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.pricing import find_prices, usage_cost
from salvo.engine.wire.base import Wire
from salvo.errors import (
    ContextTooLongError,
    MissingKeyError,
    QuotaError,
    RequestRefusedError,
    UnknownModelError,
    WrongKeyError,
)
from salvo.playbooks.enums import Result
from salvo.playbooks.evaluate import prompts
from salvo.playbooks.evaluate.inputs import Inputs
from salvo.playbooks.evaluate.judges.base import Case
from salvo.playbooks.evaluate.votes import CallMetrics, JudgeAnswer, RawCitation

UNPARSEABLE = "Evaluator returned unparseable response."

_HOPELESS = (
    WrongKeyError,
    MissingKeyError,
    QuotaError,
    UnknownModelError,
    ContextTooLongError,
    RequestRefusedError,
)
"""All calls of an evaluation share key, model and texts: what one of them meets here, all will."""

_BYTES_PER_TOKEN = 4
"""At most, for prose in any script: where it is close, a prefix is rather taken for long enough to be cached."""


class ModelJudge:
    """Judges by asking a model; `endpoint_name` is another of the wire's endpoints than its provider's own."""

    prompt_id = prompts.PROMPT_ID
    deterministic = False

    def __init__(self, name: str, clock: Clock, *, endpoint_name: str | None = None) -> None:
        provider, model = catalog.find(name)
        self.name = f"{provider.name}/{model}"
        self.provider = provider.name
        self._cache_floor = provider.facts(model).cache_floor
        self._clock = clock
        self._endpoint_name = endpoint_name

    def goes_first(self, inputs: Inputs) -> bool:
        """By the texts alone: where they are short, the price of the rules is not worth a second wait."""
        texts = sum(len(text.encode("utf-8", "surrogatepass")) for text in inputs.texts.values() if text)
        return texts >= self._cache_floor * _BYTES_PER_TOKEN

    async def judge(self, case: Case, wire: Wire | None) -> JudgeAnswer:
        assert wire is not None  # noqa: S101 - EvaluatorConfig.session opens one for every provider
        model = catalog.chat_model(self.name, wire, endpoint_name=self._endpoint_name)
        question = prompts.question(case)
        vote = await judge.vote(model, question, case.lane)
        return judge_answer(vote, question, self._cost(vote.replies))

    def _cost(self, replies: tuple[ChatReply, ...]) -> float | None:
        now = self._clock.now()
        costs = [usage_cost(reply.usage, find_prices(self.provider, reply.model, now)) for reply in replies]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


def judge_answer(vote: judge.JudgeVote, question: judge.Question, cost_usd: float | None) -> JudgeAnswer:
    """A model's answer to a question of `prompts` as a ballot."""
    measured = _measured(vote.replies, question.temperature, cost_usd)
    if vote.answer is None:
        return JudgeAnswer(
            result=None,
            raw=vote.raw,
            problem=_problem(vote),
            hopeless=isinstance(vote.error, _HOPELESS),
            measured=measured,
        )
    answer = vote.answer  # has the shape that was asked for
    return JudgeAnswer(
        result=Result(answer["result"]),
        confidence=float(answer["confidence"]),
        citations=tuple(RawCitation(cited["span"], cited["context"]) for cited in answer["evidence_citations"]),
        notes=answer["notes"],
        raw=vote.raw,
        measured=measured,
    )


def _measured(replies: tuple[ChatReply, ...], temperature: float | None, cost_usd: float | None) -> CallMetrics:
    """Of every reply that was paid for, an unreadable first one included."""
    if not replies:
        return CallMetrics()
    last = replies[-1]
    dropped = any("temperature" in reply.dropped for reply in replies)
    return CallMetrics(
        model=last.model,
        system_fingerprint=last.system_fingerprint,
        temperature=None if dropped else temperature,
        usage=_sum_of_usage(replies),
        cost_usd=cost_usd,
        seconds=sum(reply.seconds for reply in replies),
        calls=len(replies),
    )


def _problem(vote: judge.JudgeVote) -> str:
    if vote.error is not None or vote.replies[-1].stop is Stop.REFUSAL:
        return vote.problem
    return UNPARSEABLE


def _sum_of_usage(replies: tuple[ChatReply, ...]) -> Usage | None:
    total = Usage()
    for reply in replies:
        if reply.usage is None:
            return None
        total += reply.usage
    return total
