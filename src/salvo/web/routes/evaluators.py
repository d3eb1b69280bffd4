"""/api/evaluators, /api/estimate: the evaluators, and what an evaluation would send and cost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from fastapi import APIRouter

from salvo.engine.chat import catalog
from salvo.engine.chat.base import Usage
from salvo.engine.runtime.pricing import find_prices, usage_cost
from salvo.engine.text.formatting import pluralize
from salvo.playbooks.enums import Mode
from salvo.playbooks.evaluate import prompts
from salvo.playbooks.evaluate.judges import rules_judge
from salvo.playbooks.evaluate.session import DEFAULT_EVALUATORS, EvaluatorConfig
from salvo.records import record
from salvo.web.request_models import EvaluationCreate, evaluator_config, needs_key
from salvo.web.responses import JsonRoute
from salvo.web.services import ServicesDep
from salvo.web.settings import Settings

router = APIRouter(prefix="/api", tags=["evaluators"], route_class=JsonRoute)


@record
class EvaluatorInfo:
    name: str
    """As in a request: "rules" or "anthropic/claude-sonnet-4-6"."""
    model: str
    needs_key: bool
    """Whether the key must be typed; otherwise it needs none, or the server lends one."""
    takes_temperature: bool
    """Whether it is called with temperature 0. Other models vary more."""
    ends: str | None
    """The announced date on which the provider retires it."""
    input_price: float | None
    output_price: float | None
    """Dollars per million tokens; None if unknown."""


@record
class ProviderInfo:
    name: str
    title: str
    host: str
    """Where the text is sent."""
    default: str
    models: tuple[EvaluatorInfo, ...]


@record
class EvaluatorList:
    rules: EvaluatorInfo
    providers: tuple[ProviderInfo, ...]
    base_urls: tuple[str, ...]
    """Other addresses that this server may send texts to, with any model name."""
    mode_labels: Mapping[Mode, str]


@router.get("/evaluators", operation_id="listEvaluators")
def evaluators(services: ServicesDep) -> EvaluatorList:
    """Return the rules, which need no key and send nothing, and each provider's current models. Others work too."""
    now = services.settings.clock.now()
    rules = EvaluatorInfo(
        rules_judge.NAME,
        rules_judge.NAME,
        needs_key=False,
        takes_temperature=True,
        ends=None,
        input_price=0,
        output_price=0,
    )
    providers = tuple(_provider(provider, services.settings, now) for provider in catalog.providers().values())
    mode_labels = {mode: mode.label for mode in Mode}
    return EvaluatorList(rules, providers, services.settings.base_urls, mode_labels)


def _provider(provider: catalog.Provider, settings: Settings, now: datetime) -> ProviderInfo:
    default = next(name for name in DEFAULT_EVALUATORS.values() if name.startswith(f"{provider.name}/"))
    return ProviderInfo(
        name=provider.name,
        title=provider.title,
        host=catalog.endpoint(provider, settings.environ).host,
        default=default,
        models=tuple(_model(provider, model, settings, now) for model in provider.current),
    )


def _model(provider: catalog.Provider, model: str, settings: Settings, now: datetime) -> EvaluatorInfo:
    facts = provider.facts(model)
    prices = find_prices(provider.name, model, now)
    return EvaluatorInfo(
        name=f"{provider.name}/{model}",
        model=model,
        needs_key=needs_key(f"{provider.name}/{model}", settings),
        takes_temperature="temperature" not in facts.refuses,
        ends=None if facts.ends is None else str(facts.ends),
        input_price=None if prices is None else prices.tiers[0].input,
        output_price=None if prices is None else prices.tiers[0].output,
    )


CHARACTERS_PER_TOKEN = 4
CHECK_TOKENS = 150
"""Roughly what a check adds to the text."""
ANSWER_TOKENS = 200
"""Roughly; a reasoning model needs more."""


@record
class Estimate:
    """What an evaluation would send, and roughly what it would cost."""

    evaluator: str
    host: str | None
    """None if nothing leaves this machine."""
    needs_key: bool
    questions: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None if the price is unknown."""
    sentence: str
    warnings: tuple[str, ...]
    """One for each text that seems to contain a credential; texts are not redacted."""


@router.post("/estimate", operation_id="estimateEvaluation")
def estimate(body: EvaluationCreate, services: ServicesDep) -> Estimate:
    """Return where the text would be sent, with rough token counts and cost. Nothing is sent or stored."""
    config = evaluator_config(body.evaluator, body.base_url, None, services.settings)
    request = body.to_request(config, services.read_files, services.store.saved_playbooks)
    questions = len(request.cases)
    endpoint = config.endpoint
    warnings = body.key_warnings()
    if endpoint is None:
        return Estimate(config.name, None, False, questions, 0, 0, 0.0, "Nothing leaves this machine.", warnings)
    texts = sum(len(text) for text in request.inputs.texts.values() if text) // CHARACTERS_PER_TOKEN
    rules = len(prompts.SYSTEM) // CHARACTERS_PER_TOKEN
    usage = _usage(rules + texts, questions, cached=config.judge().goes_first(request.inputs))
    cost = _cost(config, usage)
    return Estimate(
        evaluator=config.name,
        host=endpoint.host,
        needs_key=bool(endpoint.key_variable) and not endpoint.key,
        questions=questions,
        input_tokens=usage.input + usage.cache_read + usage.cache_write,
        output_tokens=usage.output,
        cost_usd=cost,
        sentence=_sentence(endpoint.host, questions, texts, cost),
        warnings=warnings,
    )


def _usage(shared: int, questions: int, *, cached: bool) -> Usage:
    """If the text is long enough to be cached, the first question pays for it and the others read the cache."""
    own = CHECK_TOKENS * questions
    if not cached:
        return Usage(shared * questions + own, ANSWER_TOKENS * questions)
    return Usage(own, ANSWER_TOKENS * questions, cache_read=shared * max(questions - 1, 0), cache_write=shared)


def _cost(config: EvaluatorConfig, usage: Usage) -> float | None:
    if config.base_url is not None:
        return None  # the provider's prices do not apply to another server
    provider, model = catalog.find(config.evaluator)
    cost = usage_cost(usage, find_prices(provider.name, model, config.clock.now()))
    return None if cost is None else round(cost, 4)


def _sentence(host: str, questions: int, texts: int, cost: float | None) -> str:
    price = "the price is unknown" if cost is None else f"about ${cost:.2f}" if cost >= 0.01 else "under $0.01"
    count = pluralize(questions, "question")
    return f"The text is sent to {host}: {count} with about {texts:,} tokens of text each; {price}."
