"""What a server must have to run an evaluation, and what this one has."""

from __future__ import annotations

from salvo.engine.chat import catalog
from salvo.engine.wire.addresses import without_version
from salvo.playbooks.evaluate.session import EvaluatorConfig
from salvo.playbooks.store.queueing.leases import TYPED_KEY
from salvo.web.settings import Settings

_KEY = "key "
_ADDRESS = "address "


def requirement(config: EvaluatorConfig, *, in_full: bool) -> str | None:
    """Return the requirement of a new evaluation; None if no other server can run it, because no text is stored."""
    if not in_full:
        return None
    if config.key is not None:
        return TYPED_KEY
    endpoint = config.endpoint
    if endpoint is None:
        return ""
    if config.base_url is not None and not endpoint.key_variable:
        return f"{_ADDRESS}{without_version(config.base_url)}"
    return f"{_KEY}{catalog.find(config.evaluator)[0].name}"


def fulfilled_by(settings: Settings) -> frozenset[str]:
    """Return the requirements of evaluations that this server can run."""
    keys = [provider.name for provider in catalog.providers().values() if settings.environ.get(provider.key_variable)]
    addresses = [without_version(base_url) for base_url in settings.base_urls]
    return frozenset({"", *(f"{_KEY}{name}" for name in keys), *(f"{_ADDRESS}{address}" for address in addresses)})


def missing_sentence(required: str) -> str:
    """Say what a waiting evaluation waits for, if this server does not have it."""
    kind, _, name = required.partition(" ")
    if f"{kind} " == _KEY:
        return f"This evaluation waits for a server with an API key for {name} in its environment (--keys-from-env)."
    return f"This evaluation waits for a server that may send texts to {name} (--allow-base-url)."


KEY_SENTENCE = (
    "The API key of this evaluation was only in the memory of the server that ran it, and that server has stopped. "
    "The evaluation continues when the key is entered again."
)
"""About an interrupted evaluation whose key was typed."""
