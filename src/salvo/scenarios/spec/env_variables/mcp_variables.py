"""Environment variables in `mcp_servers`: where they may stand, which need a grant, and which values are secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from salvo.engine.chat import catalog
from salvo.engine.jsonio.pydantic_errors import FieldError
from salvo.engine.runtime.credentials import has_secret_segment, looks_secret
from salvo.engine.runtime.redact import CREDENTIAL_HEADERS
from salvo.engine.wire.base import Endpoint
from salvo.scenarios.spec.env_variables.env_grants import EnvGrants, is_credential
from salvo.scenarios.spec.env_variables.variables import VariableUse, expand_variables, find_variables, option_secrets
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.spec.tool_schema import McpServer

SERVERS = "mcp_servers"
_FIELDS = ("command", "cwd", "env", "url", "headers")


def variable_fields(servers: Any) -> dict[str, Any]:
    """Return the parts of `mcp_servers`, as a file has them, in which ${NAME} is a variable."""
    if not isinstance(servers, Mapping):
        return {}
    return {
        str(name): {field: server[field] for field in _FIELDS if field in server}
        for name, server in servers.items()
        if isinstance(server, Mapping)
    }


def server_variables(scenario: Scenario) -> list[VariableUse]:
    """Return each variable that a server of the scenario gets, with its path, first that of the server."""
    uses = list(find_variables(variable_fields(_dumped(scenario))))
    for name, server in scenario.mcp_servers.items():
        uses += [VariableUse((name, "pass_env", index), passed, "") for index, passed in enumerate(server.pass_env)]
    return uses


def server_grant_errors(scenario: Scenario, grants: EnvGrants) -> Iterator[FieldError]:
    """Yield an error for each credential without a grant that names the variable and the flag, and never a value."""
    for use in _refused(scenario, grants):
        where = "an address" if use.path[1] in ("url", "headers") else "a program"
        yield FieldError(
            (SERVERS, *use.path),
            f"{use.name} is a credential, and this file would give it to {where} of its choice; "
            f"if you want that, use --allow-env {use.name} (with pytest --salvo-allow-env)",
        )


def expand_servers(scenario: Scenario, grants: EnvGrants) -> dict[str, McpServer]:
    """Return the servers with the values of variables. A credential without a grant is not filled in."""
    refused = {use.name for use in _refused(scenario, grants)}
    environ = {name: value for name, value in grants.environ.items() if name not in refused}
    servers = {}
    for name, server in scenario.mcp_servers.items():
        values = {field: expand_variables(getattr(server, field), environ) for field in _FIELDS}
        values["pass_env"] = [passed for passed in server.pass_env if passed not in refused]
        servers[name] = server.model_copy(update=values)
    return servers


def server_secrets(scenario: Scenario, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield what must not be stored: the values of variables, and every header and option that holds a credential."""
    yield from option_secrets(variable_fields(_dumped(scenario)), environ)
    for server in scenario.mcp_servers.values():
        for passed in server.pass_env:
            if looks_secret(passed) and passed in environ:
                yield environ[passed]
        for name, value in server.headers.items():
            if name.lower() in CREDENTIAL_HEADERS or has_secret_segment(name):
                text = str(expand_variables(value, environ))
                yield text
                if " " in text:  # "Bearer …": the token is the secret, however a server repeats it
                    yield text.rpartition(" ")[2]


def _dumped(scenario: Scenario) -> dict[str, Any]:
    return {name: server.model_dump(exclude_none=True) for name, server in scenario.mcp_servers.items()}


def _refused(scenario: Scenario, grants: EnvGrants) -> Iterator[VariableUse]:
    keys = {provider.key_variable for provider in catalog.providers().values()}
    for use in server_variables(scenario):
        field = use.path[1]
        if field == "url":
            needs_grant = is_credential(use.name) or looks_secret(use.name)
        elif field in ("headers", "command"):
            needs_grant = is_credential(use.name)
        else:
            # A program of the project gets what its file names, as a command does; a provider's key it does not.
            needs_grant = use.name in keys
        if needs_grant and not grants.allows(use.name):
            yield use


def server_endpoints(scenario: Scenario, expanded: Mapping[str, McpServer]) -> dict[str, Endpoint]:
    """Return the endpoints of the servers that have an address. Their headers are added when a request is sent."""
    return {
        endpoint_name(scenario, name): Endpoint(server.url, headers=server.headers)
        for name, server in expanded.items()
        if server.url is not None
    }


def endpoint_name(scenario: Scenario, name: str) -> str:
    return f"the MCP server {name} of {scenario.scenario}"
