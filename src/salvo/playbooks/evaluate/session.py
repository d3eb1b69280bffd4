"""Configure an evaluator and open what an evaluation needs: for the commands, the server and the Python API."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field
from typing import Any, Self

from salvo.engine.chat import catalog
from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.runtime.pool import Pool
from salvo.engine.runtime.redact import Redactor, environment_secrets
from salvo.engine.wire import http_wire
from salvo.engine.wire.addresses import is_web_address, without_password
from salvo.engine.wire.base import Endpoint, HttpOptions, Timeouts
from salvo.engine.wire.retry import RetryPolicy
from salvo.errors import MissingKeyError, UsageError
from salvo.playbooks.evaluate.judges import rules_judge
from salvo.playbooks.evaluate.judges.base import Judge
from salvo.playbooks.evaluate.judges.model import ModelJudge
from salvo.playbooks.evaluate.recorder import StoreRecorder
from salvo.playbooks.evaluate.runner import EvaluationContext, Event
from salvo.records import record

DEFAULT_EVALUATORS = {"ANTHROPIC_API_KEY": "anthropic/claude-sonnet-4-6", "OPENAI_API_KEY": "openai/gpt-5.4-mini"}
CONCURRENCY = 16
MAX_TIMEOUT = 86_400
"""Seconds of one call."""


def default_evaluator(environ: Mapping[str, str]) -> str:
    """Return a model whose key is set, else the rules, which need none."""
    return next((name for variable, name in DEFAULT_EVALUATORS.items() if environ.get(variable)), rules_judge.NAME)


@record
class EvaluatorConfig:
    """An evaluator, and where its questions are sent."""

    evaluator: str
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    base_url: str | None = None
    timeout: float | None = None
    """Seconds that one call may take; None for the default."""
    key: str | None = field(default=None, repr=False)
    clock: Clock = field(default_factory=SystemClock)

    @classmethod
    def from_settings(cls, evaluator: str, settings: Mapping[str, Any], **changes: Any) -> Self:
        """Return the configuration of a stored evaluation, with the changes that are not None.

        Without a change its texts go where they went before, not to the address that the environment names now.
        """
        names = ("base_url", "timeout")
        stored = {name: settings[name] for name in names if settings.get(name) is not None}
        return cls(evaluator, **stored | {name: value for name, value in changes.items() if value is not None})

    @property
    def settings(self) -> dict[str, Any]:
        """Return what is stored with an evaluation to resume it. There is no key in it, and no password."""
        values = {"base_url": self.base_url and without_password(self.base_url), "timeout": self.timeout}
        return {name: value for name, value in values.items() if value is not None}

    def check(self) -> None:
        """Raise an error for what would stop the first call: an unknown model, an invalid address, a missing key."""
        endpoint = self.endpoint
        if self.timeout is not None and not 0 < self.timeout <= MAX_TIMEOUT:
            raise UsageError(f"A call may take between 0 and {MAX_TIMEOUT:,} seconds, not {self.timeout:g}.")
        if self.base_url and not is_web_address(self.base_url):
            raise UsageError(
                f"The base URL of {self.evaluator} is not valid.",
                hint="A base URL looks like http://127.0.0.1:8080/v1.",
            )
        if endpoint is None:
            if self.base_url:
                raise UsageError("The rules send nothing, so they take no base URL.", hint="Name a model as evaluator.")
        elif endpoint.key_variable and not endpoint.key:
            raise MissingKeyError(
                f"There is no API key for {self.evaluator}, so nothing was sent.",
                hint=f"Set {endpoint.key_variable}, or use the evaluator rules, which needs none.",
            )

    @property
    def endpoint(self) -> Endpoint | None:
        """Return where the text is sent; None if it stays on this machine."""
        if self.evaluator == rules_judge.NAME:
            return None
        provider, _ = catalog.find(self.evaluator)
        own = catalog.endpoint(provider, self.environ)
        # Whoever names the address that is used anyway means the key that is used there.
        if self.key is None and self.base_url and catalog.normalise_base_url(provider, self.base_url) == own.base_url:
            return own
        return catalog.endpoint(provider, self.environ, base_url=self.base_url, key=self.key)

    @property
    def name(self) -> str:
        """Return the evaluator's full name, even if only the model was given."""
        if self.evaluator == rules_judge.NAME:
            return self.evaluator
        provider, model = catalog.find(self.evaluator)
        return f"{provider.name}/{model}"

    @property
    def label(self) -> str:
        """Return the evaluator's name, and where it is if it has a base URL."""
        endpoint = self.endpoint
        return f"{self.name}@{endpoint.place}" if self.base_url and endpoint else self.name

    def judge(self) -> Judge:
        if self.evaluator == rules_judge.NAME:
            return rules_judge.RulesJudge()
        return ModelJudge(self.name, clock=self.clock)

    def redactor(self) -> Redactor:
        return Redactor([*environment_secrets(self.environ), *filter(None, [self.key])])

    @asynccontextmanager
    async def session(
        self,
        *,
        pool: Pool | None = None,
        open_recorder: Callable[[], StoreRecorder] | None = None,
        on_event: Callable[[Event], None] = lambda _: None,
    ) -> AsyncIterator[EvaluationContext]:
        """Open what an evaluation works with. Only a judge with a provider gets a wire."""
        judge, endpoint, redactor = self.judge(), self.endpoint, self.redactor()
        async with AsyncExitStack() as stack:
            stack.push_async_callback(judge.close)
            wire = None
            if judge.provider and endpoint:
                timeouts = Timeouts(read=self.timeout, total=self.timeout) if self.timeout else Timeouts()
                http = http_wire({judge.provider: endpoint}, redactor, self.clock, HttpOptions(timeouts))
                wire = await stack.enter_async_context(http)
            yield EvaluationContext(
                judge=judge,
                wire=wire,
                redactor=redactor,
                clock=self.clock,
                pool=pool or Pool(CONCURRENCY),
                open_recorder=open_recorder,
                on_event=on_event,
                retry_policy=RetryPolicy(retry_timeouts=self.timeout is None),
            )


def split_evaluator(text: str) -> tuple[str, str | None]:
    """Return the name and the base URL of "openai/llama@http://127.0.0.1:8080"; None where there is no address."""
    match = _EVALUATOR_AT.fullmatch(text)
    if match is not None:
        return match["name"], match["url"]
    # Some models have an @ in their name (a date or a version). An address without http:// must not be taken for one of
    # these: the text would be sent to the provider.
    name, at, rest = text.rpartition("@")
    if at and not _VERSION.fullmatch(rest):
        raise UsageError(
            f"What follows the @ in {text!r} is not an address.", hint=f"Write it as {name}@http://127.0.0.1:8080."
        )
    return text, None


_EVALUATOR_AT = re.compile(r"(?P<name>[^@]+(?:@[\w.-]+)?)@(?P<url>https?://.+)", re.IGNORECASE)
_VERSION = re.compile(r"v?\d[\w-]*(\.\d+){0,2}|default|latest")
