"""The endpoints of judges with a server of their own, with the values of variables filled in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from salvo.engine.chat import catalog
from salvo.engine.wire.addresses import is_web_address
from salvo.engine.wire.base import Endpoint
from salvo.errors import UsageError
from salvo.scenarios.spec.env_grants import EnvGrants, refused_judge_variables
from salvo.scenarios.spec.judge_server import JudgeServer, judge_provider, scenario_judge_servers
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.spec.variables import expand_variables, option_secrets


class JudgeEndpoint(NamedTuple):
    """An endpoint, whose judges are found by their provider and server, and what no file may contain."""

    provider: str
    server: JudgeServer
    name: str
    endpoint: Endpoint
    secrets: list[str]


def judge_endpoints(scenario: Scenario, grants: EnvGrants) -> Iterator[JudgeEndpoint]:
    """Yield an endpoint for each server. A credential without a grant is not filled in."""
    environ = grants.environ
    for number, judge in enumerate(scenario_judge_servers(scenario), 1):
        provider = judge_provider(scenario, judge.model)
        if provider is None:
            continue  # its model is not valid, which is an error of the assertion
        refused = {use.name for use in refused_judge_variables(judge.fields, provider, grants)}
        allowed = {name: value for name, value in environ.items() if name not in refused}
        base_url, key = (text and expand_variables(text, allowed) for text in judge.server)
        if base_url is not None and not is_web_address(base_url):
            raise UsageError(
                f"{scenario.scenario}: with its variables filled in, the base_url of a judge is no address.",
                hint="It must begin with http:// or https://. Nothing was run, and nothing was spent.",
            )
        yield JudgeEndpoint(
            provider.name,
            judge.server,
            f"{provider.name} of judge {number} of {scenario.scenario}",
            catalog.endpoint(provider, environ, base_url=base_url, key=key),
            list(option_secrets(judge.fields, environ)),
        )
