"""The MCP servers of a scenario, checked and prepared without starting or reaching any."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from salvo.engine.jsonio.pydantic_errors import FieldError
from salvo.engine.mcp.client import ServerSettings
from salvo.engine.mcp.http import HttpTarget
from salvo.engine.mcp.stdio import StdioTarget
from salvo.records import record
from salvo.scenarios.run.child_environ import passed_variables, program_error
from salvo.scenarios.run.tools.mcp_tools import PreparedServer
from salvo.scenarios.spec.env_variables.mcp_variables import SERVERS, endpoint_name
from salvo.scenarios.spec.env_variables.variables import expand_variables
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.spec.tool_schema import McpServer


@record
class ScenarioServers:
    """The servers of a scenario in a file, below the root of its project."""

    scenario: Scenario
    file: Path
    root: Path

    def check(self) -> Iterator[FieldError]:
        """Yield what is wrong with the servers: programs and folders that are not there, and addresses."""
        for name, server in self.scenario.mcp_servers.items():
            if server.url is not None:
                address = expand_variables(server.url, os.environ)
                if not address.startswith(("http://", "https://")):
                    yield FieldError((SERVERS, name, "url"), "must begin with http:// or https://")
                continue
            folder = server.folder(self.file, self.root)
            try:
                words = expand_variables(server.words, os.environ)
            except ValueError as error:
                yield FieldError((SERVERS, name, "command"), f"cannot be split into words: {error}")
                continue
            if not folder.is_dir():
                yield FieldError((SERVERS, name, "cwd"), "there is no such folder, relative to the scenario's folder")
            elif not words:
                yield FieldError((SERVERS, name, "command"), "must not be empty")
            elif error_text := program_error(words, folder, server.env.get("PATH", os.environ.get("PATH"))):
                yield FieldError((SERVERS, name, "command"), error_text)

    def prepare(self, expanded: Mapping[str, McpServer], environ: Mapping[str, str]) -> list[PreparedServer]:
        """Return how each server is reached. `expanded` are the servers with the values of their variables."""
        return [
            PreparedServer(
                server, ServerSettings(name, self._target(name, server, environ), server.timeout, server.protocol)
            )
            for name, server in expanded.items()
        ]

    def _target(self, name: str, server: McpServer, environ: Mapping[str, str]) -> StdioTarget | HttpTarget:
        if server.url is not None:
            # The wire takes the slash from the end of an address, and some servers insist on it.
            return HttpTarget(endpoint_name(self.scenario, name), "/" if server.url.endswith("/") else "")
        variables = {**passed_variables(environ, server.pass_env), **server.env}
        return StdioTarget(server.words, server.folder(self.file, self.root), variables)
