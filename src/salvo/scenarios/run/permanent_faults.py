"""Faults that every further run would meet: a missing or wrong key, a wrong address, an unknown model, no credit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from salvo.engine.chat import catalog
from salvo.engine.wire.addresses import is_web_address
from salvo.engine.wire.base import Endpoint
from salvo.errors import ProviderError, UnknownModelError, UsageError
from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.result import PROVIDER_ADAPTERS
from salvo.scenarios.run.environment import PreparedScenario

_NOTHING_SPENT = "Nothing was run, and nothing was spent."


class _Target(NamedTuple):
    """A model that a scenario calls, and the name of the endpoint where it is."""

    endpoint: str
    model: str


def check_endpoints(scenarios: Iterable[PreparedScenario], endpoints: Mapping[str, Endpoint]) -> None:
    """Raise UsageError if a call of a scenario could not be sent: its key is missing, or its address is none.

    What a program or an adapter of the user's own calls is not known before it runs.
    """
    for name in dict.fromkeys(target.endpoint for prepared in scenarios for target in _known_targets(prepared)):
        endpoint = endpoints.get(name)
        if endpoint is None:
            continue
        if not is_web_address(endpoint.base_url):
            provider = catalog.providers().get(name)
            where = f" (set by {provider.base_url_variable})" if provider else ""
            raise UsageError(
                f"The address of {name}{where} is not a web address.",
                hint=f"A base URL looks like https://api.example.com/v1. {_NOTHING_SPENT}",
            )
        if endpoint.key_variable and not endpoint.key:
            raise UsageError(f"There is no API key for {name}.", hint=f"Set {endpoint.key_variable}. {_NOTHING_SPENT}")


class PermanentFaults:
    """The permanent faults so far. Scenarios that call the same address, or the same model there, share them."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    def record(self, prepared: PreparedScenario, faults: Iterable[tuple[ProviderError, str | None]]) -> None:
        """Record the faults of a run, each with the name of the judge's model, or None for the agent's."""
        for fault, judge_model in faults:
            if fault.is_permanent:
                self._reasons.setdefault(_key(_target(prepared, judge_model), fault), fault.message)

    def reason(self, prepared: PreparedScenario) -> str | None:
        """Return why another run of the scenario would fail, if it would."""
        if not self._reasons:
            return None
        targets = [_target(prepared, None), *_known_targets(prepared)]
        keys = (key for target in targets for key in (target.endpoint, "/".join(target)))
        message = next((self._reasons[key] for key in keys if key in self._reasons), None)
        return message and f"every further run would fail in the same way: {message}"


def _key(target: _Target, fault: ProviderError) -> str:
    return "/".join(target) if isinstance(fault, UnknownModelError) else target.endpoint


def _target(prepared: PreparedScenario, judge_model: str | None) -> _Target:
    if judge_model is not None:
        provider, model = catalog.find(judge_model)
        return _Target(provider.name, model)
    if prepared.scenario.adapter in PROVIDER_ADAPTERS:
        return _Target(prepared.endpoint or prepared.scenario.adapter, prepared.scenario.model)
    return _Target(prepared.batch.batch_id, "")  # whom it calls is not known


def _known_targets(prepared: PreparedScenario) -> Iterator[_Target]:
    """Yield the models that the scenario itself names, for the agent and for judges."""
    if prepared.scenario.adapter in PROVIDER_ADAPTERS:
        yield _target(prepared, None)
    registry = builtin_registry()
    for assertion in prepared.scenario.assertions:
        judge_model = registry.find(assertion.type).judge_model
        if judge_model is not None and (model := judge_model(prepared.scenario, assertion.fields)) is not None:
            yield _target(prepared, model)
