"""Find the provider of a model name such as "anthropic/claude-sonnet-4-6", and what each model accepts."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal

from salvo.engine.text.unicode_escape import printable
from salvo.engine.wire.base import Endpoint
from salvo.errors import UsageError
from salvo.records import record


@record
class ModelFacts:
    """What is known about a model. An unknown model gets every parameter."""

    is_known: bool
    refuses: frozenset[str]
    cache_floor: int
    with_tools: Mapping[str, Any]
    ends: date | None = None


@record
class Provider:
    name: str
    title: str
    dialect: Literal["openai", "anthropic"]
    base_url: str
    base_url_variable: str
    key_variable: str
    key_header: str
    key_prefix: str
    bare_names: tuple[str, ...]
    refuses: frozenset[str]
    cache_floor: int
    current: Sequence[str]
    models: Mapping[str, Mapping[str, Any]]

    def facts(self, model: str) -> ModelFacts:
        covering = [name for name in self.models if model == name or model.startswith(f"{name}-")]
        entry = self.models[max(covering, key=len)] if covering else {}
        return ModelFacts(
            is_known=bool(covering),
            refuses=self.refuses | frozenset(entry.get("refuses", ())),
            cache_floor=entry.get("cache_floor", self.cache_floor),
            with_tools=entry.get("with_tools", {}),
            ends=entry.get("ends"),
        )

    def about(self, model: str) -> str:
        """Return a hint for a model that the provider does not know."""
        ends = self.facts(model).ends
        near = difflib.get_close_matches(model, [*self.current, *self.models], n=1, cutoff=0.8)
        if ends is not None:
            first = f"The end of {model} was announced for {ends}. "
        elif near and near[0] != model:
            first = f"Did you mean {near[0]}? "
        else:
            first = ""
        return f"{first}Current models: {', '.join(self.current)}."


@cache
def providers() -> Mapping[str, Provider]:
    table = tomllib.loads(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"))
    for entry in table.values():
        entry["refuses"] = frozenset(entry["refuses"])
        entry["bare_names"] = tuple(entry["bare_names"])
    return {name: Provider(name=name, **entry) for name, entry in table.items()}


def find(name: str) -> tuple[Provider, str]:
    """Return the provider and model of a name: "openai/gpt-5.4-mini", or a bare name of a known family."""
    by_name = providers()
    prefix, slash, model = name.partition("/")
    if slash and prefix in by_name and model:
        return by_name[prefix], model
    if not slash:
        for provider in by_name.values():
            if name.startswith(provider.bare_names):
                return provider, name
    raise UsageError(
        f"The provider of the model {name!r} is not known.",
        hint=f"Write provider/model, with one of: {', '.join(by_name)}. For a server that is compatible with "
        f"OpenAI's API, write openai/{printable(name)} and set a base URL.",
    )


def endpoint(
    provider: Provider, environ: Mapping[str, str], *, base_url: str | None = None, key: str | None = None
) -> Endpoint:
    """Return the endpoint of a provider, from the arguments or else from the environment.

    A key of the environment is sent only to the provider's own address or to the one that the environment names. A
    scenario file could otherwise name its own server and collect keys.
    """
    address = normalise_base_url(provider, base_url or environ.get(provider.base_url_variable) or provider.base_url)
    if key is None and base_url is None:
        key = environ.get(provider.key_variable)
    needs_key = address == provider.base_url
    return Endpoint(
        base_url=address,
        key=(key or "").strip() or None,
        key_header=provider.key_header,
        key_prefix=provider.key_prefix,
        key_variable=provider.key_variable if needs_key else "",
    )


def normalise_base_url(provider: Provider, address: str) -> str:
    """Return the base URL that the provider's paths are appended to.

    The providers disagree about where /v1 belongs: it is part of OpenAI's base URL, and not of Anthropic's. So it may
    be given or not, or twice. An address with another path is used as it is. The whole address of the endpoint is
    accepted as well; it also names a server that has no /v1.
    """
    path_of_endpoint = {"openai": "/chat/completions", "anthropic": "/v1/messages"}[provider.dialect]
    trimmed = address.rstrip("/")
    if trimmed.endswith(path_of_endpoint):
        return trimmed.removesuffix(path_of_endpoint)
    root = _V1_AT_END.sub("", trimmed)
    if provider.dialect == "anthropic":
        return root
    has_path = "/" in root.partition("://")[2]
    return f"{root}/v1" if root != trimmed or not has_path else trimmed


_V1_AT_END = re.compile(r"(?:/v1)+$")


def endpoints(environ: Mapping[str, str]) -> dict[str, Endpoint]:
    """Return the endpoint of every provider, from the environment."""
    return {name: endpoint(provider, environ) for name, provider in providers().items()}
