"""Where the evaluators of a command are, and which of them gets which key."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from salvo.engine.wire.addresses import without_version
from salvo.errors import UsageError
from salvo.playbooks.evaluate.judges import rules_judge
from salvo.playbooks.evaluate.session import EvaluatorConfig, default_evaluator, split_evaluator
from salvo.playbooks.store.records import StoredEvaluation
from salvo.records import record


@record
class ServerOptions:
    """What the options say about the server of an evaluator."""

    base_url: str | None
    key_variables: Sequence[str]
    timeout: float | None
    """Seconds that a call may take."""


def new_configs(evaluators: Sequence[str], options: ServerOptions) -> list[EvaluatorConfig]:
    """Return each evaluator once. Raise an error if a key is missing, before anything is sent.

    An evaluator may have its own base URL (NAME@URL). --base-url is for the other models.
    """
    evaluators = list(dict.fromkeys(evaluators or [default_evaluator(os.environ)]))
    keys = _Keys.read(options.key_variables)
    configs = []
    for name, own_url in map(split_evaluator, evaluators):
        if name == rules_judge.NAME and len(evaluators) > 1:
            configs.append(EvaluatorConfig(name, base_url=own_url))
            continue
        # If the rules are the only evaluator, check() reports a base URL as a mistake.
        key = keys.take(own_url, alone=len(evaluators) == 1)
        configs.append(EvaluatorConfig(name, base_url=own_url or options.base_url, key=key, timeout=options.timeout))
    _check(configs, keys)
    return configs


def stored_config(stored: StoredEvaluation, options: ServerOptions) -> EvaluatorConfig:
    """Return the configuration of a stored evaluation. Its texts go where they went, unless an option differs."""
    keys = _Keys.read(options.key_variables)
    config = EvaluatorConfig.from_settings(
        stored.evaluator, stored.settings, base_url=options.base_url, timeout=options.timeout
    )
    config = replace(config, key=keys.take(config.base_url, alone=True))
    _check([config], keys)
    return config


@dataclass(slots=True)
class _Keys:
    """The keys of --key-variable by the server that they are for; "" for --base-url and the providers' own."""

    values: dict[str, str]
    unused: set[str]

    @classmethod
    def read(cls, key_variables: Sequence[str]) -> Self:
        values = {}
        for text in key_variables:
            variable, _, url = text.partition("@")
            values[without_version(url)] = _read_key(variable)
        return cls(values, set(values))

    def take(self, url: str | None, *, alone: bool) -> str | None:
        """Return the key for this server. A key that names no server is for an evaluator that is alone."""
        server = without_version(url or "")
        if alone and server not in self.values:
            server = ""
        self.unused.discard(server)
        return self.values.get(server)


def _check(configs: Sequence[EvaluatorConfig], keys: _Keys) -> None:
    """Raise UsageError for a key that no evaluator uses, or that several servers would get."""
    for config in configs:
        config.check()
    if keys.unused:
        raise UsageError(
            "--key-variable names a key that no evaluator would get.",
            hint="The key of an evaluator NAME@URL is given as --key-variable VARIABLE@URL, with the same URL.",
        )
    common = keys.values.get("")
    places = {config.endpoint.place for config in configs if config.endpoint and common and config.key == common}
    if len(places) > 1:
        raise UsageError(
            f"--key-variable would send one key to {' and '.join(sorted(places))}.",
            hint="Give each evaluator its address as NAME@URL, and its key as --key-variable VARIABLE@URL.",
        )


def _read_key(variable: str) -> str:
    if not os.environ.get(variable):
        raise UsageError(f"{variable} is not set, so there is no key to send.", hint="Set it, or omit the option.")
    return os.environ[variable]
