"""/api/evaluators, /api/estimate: who can judge, where the text would go, and about what it would cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter

from salvo.engine.chat import catalog
from salvo.engine.chat.base import Usage
from salvo.engine.runtime.pricing import cost_of, prices_of
from salvo.playbooks.evaluate import prompts
from salvo.playbooks.evaluate.judges import rules_judge
from salvo.playbooks.evaluate.session import DEFAULT_EVALUATORS, EvaluatorConfig
from salvo.web.request_models import EvaluationCreate, desk_for
from salvo.web.responses import Json
from salvo.web.services import ServicesDep

router = APIRouter(prefix="/api", tags=["evaluators"])

CHARACTERS_PER_TOKEN = 4
CHECK_TOKENS = 150
"""About what a check adds to the text it is asked about."""
ANSWER_TOKENS = 200
"""About what an answer takes; a model that thinks before takes more."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    name: str
    """As it is named in a request: "rules", "anthropic/claude-sonnet-4-6"."""
    model: str
    needs_key: bool
    takes_temperature: bool
    """Whether it is asked at temperature 0; one that is not varies more."""
    ends: str | None
    """The day its provider stops serving it, where one was announced."""
    input_price: float | None
    output_price: float | None
    """Dollars for a million tokens; None where that is not known."""


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    name: str
    title: str
    host: str
    """Where the text goes."""
    default: str
    models: tuple[Evaluator, ...]


@dataclass(frozen=True, slots=True)
class Evaluators:
    rules: Evaluator
    providers: tuple[ProviderInfo, ...]
    base_urls: tuple[str, ...]
    """Other addresses that this server may send to; a model of any name can be asked there."""


@router.get("/evaluators", operation_id="listEvaluators", response_model=Evaluators)
def evaluators(at: ServicesDep) -> Json:
    """The rules, which need no key and send nothing, and the current models of each provider. Others may be named."""
    now = at.settings.clock.now()
    rules = Evaluator(
        rules_judge.NAME,
        rules_judge.NAME,
        needs_key=False,
        takes_temperature=True,
        ends=None,
        input_price=0,
        output_price=0,
    )
    providers = tuple(_provider(provider, now) for provider in catalog.providers().values())
    return Json(Evaluators(rules, providers, at.settings.base_urls))


def _provider(provider: catalog.Provider, now: datetime) -> ProviderInfo:
    default = next(name for name in DEFAULT_EVALUATORS.values() if name.startswith(f"{provider.name}/"))
    return ProviderInfo(
        name=provider.name,
        title=provider.title,
        host=catalog.endpoint(provider, {}).host,
        default=default,
        models=tuple(_model(provider, model, now) for model in provider.current),
    )


def _model(provider: catalog.Provider, model: str, now: datetime) -> Evaluator:
    facts = provider.facts(model)
    prices = prices_of(provider.name, model, now)
    return Evaluator(
        name=f"{provider.name}/{model}",
        model=model,
        needs_key=True,
        takes_temperature="temperature" not in facts.refuses,
        ends=None if facts.ends is None else str(facts.ends),
        input_price=None if prices is None else prices.tiers[0].input,
        output_price=None if prices is None else prices.tiers[0].output,
    )


@dataclass(frozen=True, slots=True)
class Estimate:
    """Before anything is sent: where it would go, and about how much it would be."""

    evaluator: str
    host: str | None
    """None where nothing leaves this machine."""
    needs_key: bool
    questions: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None where no price is known."""
    sentence: str


@router.post("/estimate", operation_id="estimateEvaluation", response_model=Estimate)
def estimate(asked: EvaluationCreate, at: ServicesDep) -> Json:
    """Where the text would go, about how many tokens and dollars. Nothing is sent and nothing is stored."""
    desk = desk_for(asked.evaluator, asked.base_url, None, at.settings)
    order = asked.order(desk)
    questions = len(order.cases)
    endpoint = desk.endpoint
    if endpoint is None:
        return Json(Estimate(desk.name, None, False, questions, 0, 0, 0.0, "Nothing leaves this machine."))
    texts = sum(len(text) for text in order.inputs.texts.values() if text) // CHARACTERS_PER_TOKEN
    rules = len(prompts.SYSTEM) // CHARACTERS_PER_TOKEN
    usage = _usage(rules + texts, questions, cached=desk.judge().goes_first(order.inputs))
    cost = _cost(desk, usage)
    return Json(
        Estimate(
            evaluator=desk.name,
            host=endpoint.host,
            needs_key=bool(endpoint.key_variable),
            questions=questions,
            input_tokens=usage.input + usage.cache_read + usage.cache_write,
            output_tokens=usage.output,
            cost_usd=cost,
            sentence=_sentence(endpoint.host, questions, texts, cost),
        )
    )


def _usage(shared: int, questions: int, *, cached: bool) -> Usage:
    """Where the text is long enough, the first question pays for it and the others read it from the cache."""
    own = CHECK_TOKENS * questions
    if not cached:
        return Usage(shared * questions + own, ANSWER_TOKENS * questions)
    return Usage(own, ANSWER_TOKENS * questions, cache_read=shared * max(questions - 1, 0), cache_write=shared)


def _cost(desk: EvaluatorConfig, usage: Usage) -> float | None:
    if desk.base_url is not None:
        return None  # somebody else's server, and somebody else's price
    provider, model = catalog.find(desk.evaluator)
    cost = cost_of(usage, prices_of(provider.name, model, desk.clock.now()))
    return None if cost is None else round(cost, 4)


def _sentence(host: str, questions: int, texts: int, cost: float | None) -> str:
    price = "what that costs is not known" if cost is None else f"about ${cost:.2f}" if cost >= 0.01 else "under $0.01"
    return f"The text goes to {host}: {questions} questions, each with about {texts:,} tokens of it; {price}."
