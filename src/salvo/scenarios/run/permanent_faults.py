"""Faults that every further run would meet: a missing or wrong key, a wrong address, an unknown model, no credit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from salvo.engine.chat import catalog
from salvo.engine.wire.addresses import is_web_address
from salvo.engine.wire.base import Endpoint
from salvo.errors import ProviderError, UnknownModelError, UsageError
from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.result import MCP, PROVIDER_ADAPTERS
from salvo.scenarios.run.environment import CallTarget, PreparedScenario
from salvo.scenarios.spec.judge_server import JudgeServer

_NOTHING_SPENT = "Nothing was run, and nothing was spent."


def check_endpoints(
    scenarios: Iterable[PreparedScenario], endpoints: Mapping[str, Endpoint], *, only_judges: bool = False
) -> None:
    """Raise UsageError if a call of a scenario could not be sent: its key is missing, or its address is none.

    What a program or an adapter of the user's own calls is not known before it runs.
    """
    targets = _judge_targets if only_judges else _known_targets
    for name in dict.fromkeys(target.endpoint for prepared in scenarios for target in targets(prepared)):
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


class PermanentFault(NamedTuple):
    """A fault of a call, as plain data: it may come from another process."""

    target: str
    """The address that was called, or the model there."""
    message: str


def permanent_faults(
    prepared: PreparedScenario, faults: Iterable[tuple[ProviderError, CallTarget | None]]
) -> list[PermanentFault]:
    """Return those faults of a run that stay, each with the judge that was called, or None for the agent's model."""
    return [
        PermanentFault(_key(judge or _agent_target(prepared), fault), fault.message)
        for fault, judge in faults
        if fault.is_permanent
    ]


class PermanentFaults:
    """The permanent faults so far. Scenarios that call the same address, or the same model there, share them."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    def record(self, faults: Iterable[PermanentFault]) -> None:
        for fault in faults:
            self._reasons.setdefault(fault.target, fault.message)

    def reason(self, prepared: PreparedScenario) -> str | None:
        """Return why another run of the scenario would fail, if it would."""
        if not self._reasons:
            return None
        targets = [_agent_target(prepared), *_known_targets(prepared)]
        keys = (key for target in targets for key in (target.endpoint, "/".join(target)))
        message = next((self._reasons[key] for key in keys if key in self._reasons), None)
        return message and f"every further run would fail in the same way: {message}"


def _key(target: CallTarget, fault: ProviderError) -> str:
    return "/".join(target) if isinstance(fault, UnknownModelError) else target.endpoint


def _agent_target(prepared: PreparedScenario) -> CallTarget:
    if _asks_for_choices(prepared):
        provider, model = catalog.find(prepared.scenario.model)
        return CallTarget(provider.name, model)
    if prepared.scenario.adapter in PROVIDER_ADAPTERS:
        return CallTarget(prepared.endpoint or prepared.scenario.adapter, prepared.scenario.model)
    return CallTarget(prepared.batch.batch_id, "")  # whom it calls is not known


def _asks_for_choices(prepared: PreparedScenario) -> bool:
    """Return whether the test of MCP servers asks the scenario's model which tool it would choose."""
    return prepared.scenario.adapter == MCP and bool(prepared.scenario.adapter_options.get("prompts"))


def _known_targets(prepared: PreparedScenario) -> Iterator[CallTarget]:
    """Yield the models that the scenario itself names, for the agent and for judges."""
    if prepared.scenario.adapter in PROVIDER_ADAPTERS or _asks_for_choices(prepared):
        yield _agent_target(prepared)
    user = prepared.scenario.user
    if user is not None and user.model is not None:
        provider, model = catalog.find(user.model)
        yield CallTarget(prepared.user_endpoint or provider.name, model)
    yield from _judge_targets(prepared)


def _judge_targets(prepared: PreparedScenario) -> Iterator[CallTarget]:
    registry = builtin_registry()
    endpoints = prepared.judge_endpoints or {}
    for _, assertion in prepared.scenario.all_assertions():
        judge_model = registry.find(assertion.type).judge_model
        if judge_model is not None and (name := judge_model(prepared.scenario, assertion.fields)) is not None:
            provider, model = catalog.find(name)
            server = JudgeServer(assertion.fields.get("base_url"), assertion.fields.get("api_key"))
            yield CallTarget(endpoints.get((provider.name, server), provider.name), model)
