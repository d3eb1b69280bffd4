"""Where the calls of scenarios go, and which variables of the environment they use; names only, never a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from salvo.engine.chat import catalog
from salvo.engine.chat.catalog import Provider
from salvo.engine.runtime.credentials import looks_secret
from salvo.engine.runtime.redact import Redactor, environment_secrets
from salvo.engine.text.unicode_escape import printable
from salvo.scenarios.evaluators.registry import builtin_registry
from salvo.scenarios.result import PROVIDER_ADAPTERS
from salvo.scenarios.spec.env_grants import BASE_URL, is_credential
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.spec.variables import expand_variables, find_variables
from salvo.scenarios.workspace import Workspace

_API_KEY = "api_key"


def destination_lines(workspace: Workspace, scenarios: Iterable[Scenario]) -> list[str]:
    """Return a line for each address, and for each scenario whose own code gets variables."""
    variables_by_address: dict[str, dict[str, None]] = {}
    code_lines = []
    redactor = Redactor(environment_secrets(workspace.environ))
    for scenario in scenarios:
        for address, names in _destinations(workspace, scenario):
            clean = printable(redactor.text(address))
            variables_by_address.setdefault(clean, {}).update(dict.fromkeys(names))
        if scenario.adapter not in PROVIDER_ADAPTERS and (names := _option_variables(scenario)):
            code_lines.append(f"The agent of {scenario.scenario} gets {', '.join(map(printable, names))}.")
    return [*(_call_line(*item) for item in variables_by_address.items()), *code_lines]


def _call_line(address: str, names: Iterable[str]) -> str:
    variables = ", ".join(names)
    return f"Calls go to {address}, with {variables}." if variables else f"Calls go to {address}."


def _destinations(workspace: Workspace, scenario: Scenario) -> Iterator[tuple[str, list[str]]]:
    environ, providers = workspace.environ, catalog.providers()
    if scenario.adapter in PROVIDER_ADAPTERS:
        provider, options = providers[scenario.adapter], scenario.adapter_options
        base_url = options.get(BASE_URL)
        address_options = {name: options[name] for name in (BASE_URL, _API_KEY) if name in options}
        names = [use.name for use in find_variables(address_options)]
        if base_url:
            # A credential that the user granted stays a name here.
            plain = {name: value for name, value in environ.items() if not (is_credential(name) or looks_secret(name))}
            yield str(expand_variables(base_url, plain)), names
        else:
            address, own = _own_destination(workspace, provider)
            key = [name for name in own if name != provider.key_variable] if options.get(_API_KEY) else own
            yield address, [*key, *names]
    else:
        # The agent's own code may ask either provider. Without a key it cannot.
        for provider in providers.values():
            if environ.get(provider.key_variable):
                yield _own_destination(workspace, provider)
    registry = builtin_registry()
    for _, assertion in scenario.all_assertions():
        judge_model = registry.find(assertion.type).judge_model
        if judge_model is not None and (model := judge_model(scenario, assertion.fields)) is not None:
            yield _own_destination(workspace, catalog.find(model)[0])


def _own_destination(workspace: Workspace, provider: Provider) -> tuple[str, list[str]]:
    variables = [provider.base_url_variable, provider.key_variable]
    address = catalog.endpoint(provider, workspace.environ).base_url
    return address, [name for name in variables if workspace.environ.get(name)]


def _option_variables(scenario: Scenario) -> list[str]:
    names = [use.name for use in find_variables(scenario.adapter_options)]
    passed = scenario.adapter_options.get("pass_env")
    return list(dict.fromkeys([*names, *map(str, passed if isinstance(passed, list) else [])]))
