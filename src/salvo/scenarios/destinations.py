"""Where the calls of scenarios go, and which variables of the environment they use; names only, never a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from salvo.engine.chat import catalog
from salvo.engine.chat.catalog import Provider
from salvo.engine.runtime.credentials import looks_secret
from salvo.engine.runtime.pricing import OwnPrice, UnitPrices, find_prices
from salvo.engine.runtime.redact import Redactor, environment_secrets
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.result import MCP, PROVIDER_ADAPTERS
from salvo.scenarios.spec.env_variables.env_grants import BASE_URL, is_credential
from salvo.scenarios.spec.env_variables.mcp_variables import server_variables
from salvo.scenarios.spec.env_variables.variables import expand_variables, find_variables
from salvo.scenarios.spec.judge_server import FIELDS, JUDGE, judge_provider, scenario_judge_servers
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.workspace import Workspace

_API_KEY = "api_key"


def destination_lines(workspace: Workspace, scenarios: Iterable[Scenario]) -> list[str]:
    """Return a line for each address, and for each scenario whose own code gets variables."""
    scenarios = list(scenarios)
    code_lines = [
        f"The agent of {scenario.scenario} gets {', '.join(map(printable, names))}."
        for scenario in scenarios
        if scenario.adapter not in PROVIDER_ADAPTERS and (names := _option_variables(scenario, workspace.environ))
    ]
    destinations = (item for scenario in scenarios for item in _destinations(workspace, scenario))
    server_lines = (line for scenario in scenarios for line in _server_lines(scenario))
    return [*_call_lines(workspace, destinations), *code_lines, *server_lines, *_price_lines(workspace, scenarios)]


def judge_destination_lines(workspace: Workspace, scenario: Scenario) -> list[str]:
    """Return the same for a command that calls only the judges of a scenario."""
    return [
        *_call_lines(workspace, _judge_destinations(workspace, scenario)),
        *_price_lines(workspace, [scenario], only_judges=True),
    ]


def _call_lines(workspace: Workspace, destinations: Iterable[tuple[str, list[str]]]) -> list[str]:
    variables_by_address: dict[str, dict[str, None]] = {}
    redactor = Redactor(environment_secrets(workspace.environ))
    for address, names in destinations:
        clean = printable(redactor.text(address))
        variables_by_address.setdefault(clean, {}).update(dict.fromkeys(names))
    return [_call_line(*item) for item in variables_by_address.items()]


def _call_line(address: str, names: Iterable[str]) -> str:
    variables = ", ".join(names)
    return f"Calls go to {address}, with {variables}." if variables else f"Calls go to {address}."


def _destinations(workspace: Workspace, scenario: Scenario) -> Iterator[tuple[str, list[str]]]:
    environ, providers = workspace.environ, catalog.providers()
    if scenario.adapter in PROVIDER_ADAPTERS:
        yield _destination(workspace, providers[scenario.adapter], scenario.adapter_options)
    elif scenario.adapter == MCP:
        if scenario.adapter_options.get("prompts"):
            yield _own_destination(workspace, catalog.find(scenario.model)[0])
    else:
        # The agent's own code may ask either provider. Without a key it cannot.
        for provider in providers.values():
            if environ.get(provider.key_variable):
                yield _own_destination(workspace, provider)
    yield from _server_addresses(workspace, scenario)
    if scenario.user is not None and scenario.user.model is not None:
        yield _destination(workspace, catalog.find(scenario.user.model)[0], scenario.user.model_dump())
    yield from _judge_destinations(workspace, scenario)


def _judge_destinations(workspace: Workspace, scenario: Scenario) -> Iterator[tuple[str, list[str]]]:
    for model in _judge_models(scenario):
        yield _own_destination(workspace, catalog.find(model)[0])
    for judge in scenario_judge_servers(scenario):
        provider = judge_provider(scenario, judge.model)
        if provider is not None:
            yield _destination(workspace, provider, judge.fields)


def _judge_models(scenario: Scenario, *, with_server: bool = False) -> Iterator[str]:
    """Yield the model of each judge, without those that have a server of their own unless they are asked for."""
    registry = builtin_registry()
    for _, assertion in scenario.all_assertions():
        judge_model = registry.find(assertion.type).judge_model
        has_server = assertion.type == JUDGE and any(assertion.fields.get(name) for name in FIELDS)
        if judge_model is None or (has_server and not with_server):
            continue
        if (model := judge_model(scenario, assertion.fields)) is not None:
            yield model


def _destination(workspace: Workspace, provider: Provider, options: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the address that these options lead to, and the names of the variables that are used for it."""
    address_options = {name: options[name] for name in (BASE_URL, _API_KEY) if options.get(name)}
    names = [use.name for use in find_variables(address_options)]
    if BASE_URL in address_options:
        return str(expand_variables(address_options[BASE_URL], _plain_variables(workspace.environ))), names
    address, own = _own_destination(workspace, provider)
    key = [name for name in own if name != provider.key_variable] if _API_KEY in address_options else own
    return address, [*key, *names]


def _price_lines(workspace: Workspace, scenarios: Iterable[Scenario], *, only_judges: bool = False) -> list[str]:
    """Return a line for each model whose price is the user's own, so that nobody's prices go unnoticed."""
    book, when = workspace.price_book(), workspace.clock.now()
    if not book.own:
        return []
    models: dict[str, None] = {}
    for scenario in scenarios:
        if scenario.model and not only_judges:
            prefixes = [scenario.adapter] if scenario.adapter in PROVIDER_ADAPTERS else list(catalog.providers())
            models.update(dict.fromkeys(f"{prefix}/{scenario.model}" for prefix in prefixes))
        user_model = [] if only_judges or scenario.user is None else [scenario.user.model]
        for model in [*filter(None, user_model), *_judge_models(scenario, with_server=True)]:
            provider, name = catalog.find(model)
            models[f"{provider.name}/{name}"] = None
    return [
        _price_line(name, own, prices, _list_prices(name, when))
        for name in models
        if (own := book.own.get(name.lower())) is not None and (prices := own.unit_prices(when)) is not None
    ]


def _list_prices(name: str, when: datetime) -> UnitPrices | None:
    provider, _, model = name.partition("/")
    return find_prices(provider, model, when)


def _price_line(name: str, own: OwnPrice, prices: UnitPrices, list_prices: UnitPrices | None) -> str:
    note = ""
    if own.by_project and list_prices is not None and (prices.tiers[0] != list_prices.tiers[0]):
        note = f" The list says {list_prices}; --max-cost counts the higher price."
    return f"{printable(name)} costs {prices} per million tokens, by {printable(own.source)}.{note}"


def _server_addresses(workspace: Workspace, scenario: Scenario) -> Iterator[tuple[str, list[str]]]:
    """Yield the address of each MCP server that has one, with the variables in its address and headers."""
    uses = server_variables(scenario) if scenario.mcp_servers else []
    for name, server in scenario.mcp_servers.items():
        if server.url is not None:
            names = list(dict.fromkeys(use.name for use in uses if use.path[0] == name))
            yield str(expand_variables(server.url, _plain_variables(workspace.environ))), names


def _server_lines(scenario: Scenario) -> Iterator[str]:
    """Yield a line for each program of an MCP server that gets variables."""
    uses = server_variables(scenario) if scenario.mcp_servers else []
    for name, server in scenario.mcp_servers.items():
        names = dict.fromkeys(use.name for use in uses if use.path[0] == name)
        if server.command is not None and names:
            yield f"The MCP server {name} of {scenario.scenario} gets {', '.join(map(printable, names))}."


def _plain_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that may be shown: a credential that the user granted stays a name."""
    return {name: value for name, value in environ.items() if not (is_credential(name) or looks_secret(name))}


def _own_destination(workspace: Workspace, provider: Provider) -> tuple[str, list[str]]:
    variables = [provider.base_url_variable, provider.key_variable]
    address = catalog.endpoint(provider, workspace.environ).base_url
    return address, [name for name in variables if workspace.environ.get(name)]


def _option_variables(scenario: Scenario, environ: Mapping[str, str]) -> list[str]:
    """Return the variables whose values the agent gets; one of `pass_env` may not be set."""
    names = [use.name for use in find_variables(scenario.adapter_options)]
    passed = scenario.adapter_options.get("pass_env")
    names += [str(name) for name in passed if str(name) in environ] if isinstance(passed, list) else []
    return list(dict.fromkeys(names))
