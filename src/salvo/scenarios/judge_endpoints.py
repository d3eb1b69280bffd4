"""The endpoints of judges, and of simulated users, with a server of their own, with variables filled in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from salvo.engine.chat import catalog
from salvo.engine.wire.addresses import is_web_address
from salvo.engine.wire.base import Endpoint
from salvo.errors import UsageError
from salvo.scenarios.spec.env_variables.env_grants import EnvGrants, refused_judge_variables
from salvo.scenarios.spec.env_variables.variables import expand_variables, option_secrets
from salvo.scenarios.spec.judge_server import (
    JudgeServer,
    ServerUse,
    judge_provider,
    scenario_judge_servers,
    scenario_user_server,
)
from salvo.scenarios.spec.schema import Scenario


class JudgeEndpoint(NamedTuple):
    """An endpoint, whose judges are found by their provider and server, and what no file may contain."""

    provider: str
    server: JudgeServer
    name: str
    endpoint: Endpoint
    secrets: list[str]


def judge_endpoints(scenario: Scenario, grants: EnvGrants) -> Iterator[JudgeEndpoint]:
    """Yield an endpoint for each server. A credential without a grant is not filled in."""
    for number, judge in enumerate(scenario_judge_servers(scenario), 1):
        endpoint = _endpoint(scenario, judge, f"judge {number}", grants)
        if endpoint is not None:
            yield endpoint


def user_endpoint(scenario: Scenario, grants: EnvGrants) -> JudgeEndpoint | None:
    """Return the endpoint of a simulated user with a server of its own."""
    server = scenario_user_server(scenario)
    return None if server is None else _endpoint(scenario, server, "the user", grants)


def _endpoint(scenario: Scenario, use: ServerUse, owner: str, grants: EnvGrants) -> JudgeEndpoint | None:
    environ = grants.environ
    provider = judge_provider(scenario, use.model)
    if provider is None:
        return None  # its model is not valid, which is an error of its own
    refused = {variable.name for variable in refused_judge_variables(use.fields, provider, grants)}
    allowed = {name: value for name, value in environ.items() if name not in refused}
    base_url, key = (text and expand_variables(text, allowed) for text in use.server)
    if base_url is not None and not is_web_address(base_url):
        kind = owner if owner == "the user" else "a judge"
        raise UsageError(
            f"{scenario.scenario}: with its variables filled in, the base_url of {kind} is no address.",
            hint="It must begin with http:// or https://. Nothing was run, and nothing was spent.",
        )
    return JudgeEndpoint(
        provider.name,
        use.server,
        f"{provider.name} of {owner} of {scenario.scenario}",
        catalog.endpoint(provider, environ, base_url=base_url, key=key),
        list(option_secrets(use.fields, environ)),
    )
