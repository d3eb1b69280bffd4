"""Translate the providers of promptfoo: which model is asked, with which settings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.scenarios.promptfoo.notes import ImportNotes
from salvo.scenarios.result import PROVIDER_ADAPTERS

_KINDS = ("chat", "messages", "responses")
_ENV = re.compile(r"\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_TOKENS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def read_providers(value: Any, notes: ImportNotes) -> dict[str, dict[str, Any]]:
    """Return the fields of a scenario for each provider, by a name for it."""
    providers: dict[str, dict[str, Any]] = {}
    ids = UniqueIds()
    for path, provider_id, settings in _provider_items(value):
        fields = _fields(provider_id, settings, path, notes)
        if fields is not None:
            label = settings.get("label")
            name = label if isinstance(label, str) else fields["model"].rpartition("/")[2]
            providers[ids.add(clean_id(name))] = fields
    return providers


def _provider_items(value: Any) -> Iterator[tuple[FieldPath, Any, dict[str, Any]]]:
    """Yield each provider's place, id and settings. An id may be the key of its settings."""
    items = value if isinstance(value, list) else [value]
    for index, item in enumerate(items):
        path: FieldPath = ("providers", index) if isinstance(value, list) else ("providers",)
        if isinstance(item, dict) and "id" in item:
            yield path, item["id"], item
        elif isinstance(item, dict):
            for key, settings in item.items():
                yield (*path, key), key, settings if isinstance(settings, dict) else {}
        elif item is not None:
            yield path, item, {}


def judge_name(provider: Any) -> str | None:
    """Return a grader as provider/model; None if it is not a model that Salvo can ask."""
    if isinstance(provider, dict):
        provider = provider.get("id") if set(provider) <= {"id", "label"} else None
    return model_name(provider) if isinstance(provider, str) else None


def model_name(provider_id: str) -> str | None:
    """Return `openai:chat:gpt-5.4-mini` as openai/gpt-5.4-mini; None for any other provider."""
    provider, *rest = provider_id.split(":")
    if rest and rest[0] in _KINDS:
        rest = rest[1:]
    model = ":".join(rest)
    is_name = bool(model) and "://" not in model and "{{" not in model
    return f"{provider}/{model}" if provider in PROVIDER_ADAPTERS and is_name else None


def _fields(provider_id: Any, settings: dict[str, Any], path: FieldPath, notes: ImportNotes) -> dict[str, Any] | None:
    model = model_name(provider_id) if isinstance(provider_id, str) else None
    if model is None:
        notes.skip(path, f"the provider {provider_id} was left out: Salvo asks models of openai and anthropic")
        return None
    if ":responses:" in str(provider_id):
        notes.change(path, "is asked through Chat Completions, not through Responses")
    for name in settings:
        if name not in ("id", "label", "config"):
            notes.skip((*path, name), f"{name} of a provider has no counterpart")
    fields: dict[str, Any] = {"model": model}
    config = settings.get("config")
    config = config if isinstance(config, dict) else {}
    if "temperature" in config:
        fields["temperature"] = config["temperature"]
    options: dict[str, Any] = {}
    for name, value in config.items():
        options |= _option(name, value, (*path, "config", name), notes)
    if options:
        fields["adapter_options"] = options
    return fields


def _option(name: str, value: Any, path: FieldPath, notes: ImportNotes) -> dict[str, Any]:
    """Return a setting of a provider as an option of the adapter."""
    if name == "temperature":
        return {}
    if name in _TOKENS:
        return {"max_tokens": value}
    if name == "apiBaseUrl":
        return {"base_url": _ENV.sub(r"${\1}", str(value))}
    if name == "apiKeyEnvar":
        return {"api_key": f"${{{value}}}"}
    if name == "apiKey":
        return _key(value, path, notes)
    notes.skip(path, f"{name} of a provider has no counterpart")
    return {}


def _key(value: Any, path: FieldPath, notes: ImportNotes) -> dict[str, Any]:
    """Return a key that the environment has. A key in the file is never copied."""
    match = _ENV.fullmatch(str(value))
    if match is None:
        notes.skip(path, "a key in a file is not copied; set it in the environment")
        return {}
    return {"api_key": f"${{{match[1]}}}"}


def clean_id(text: str) -> str:
    """Return a text that can be part of a cell's name."""
    text = "".join(character if character.isprintable() and character not in "[]" else " " for character in text)
    return " ".join(text.split())[:60].strip() or "unnamed"


class UniqueIds:
    """Adds a number to a name that occurs again."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, name: str) -> str:
        self._counts[name] += 1
        if self._counts[name] == 1:
            return name
        return self.add(f"{name} {self._counts[name]}")
