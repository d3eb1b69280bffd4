"""Configure an evaluator and open what an evaluation needs: for the commands, the server and the Python API."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from salvo.engine.chat import catalog
from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.runtime.pool import Pool
from salvo.engine.runtime.redact import Redactor, environment_secrets
from salvo.engine.wire.base import Endpoint
from salvo.errors import MissingKeyError, UsageError
from salvo.playbooks.evaluate.judges import rules_judge
from salvo.playbooks.evaluate.judges.base import Judge
from salvo.playbooks.evaluate.judges.model import ModelJudge
from salvo.playbooks.evaluate.recorder import StoreRecorder
from salvo.playbooks.evaluate.runner import EvaluationContext, Event

DEFAULT_EVALUATORS = {"ANTHROPIC_API_KEY": "anthropic/claude-sonnet-4-6", "OPENAI_API_KEY": "openai/gpt-5.4-mini"}
CONCURRENCY = 16


def default_evaluator(environ: Mapping[str, str]) -> str:
    """Return a model whose key is set, else the rules, which need none."""
    return next((name for variable, name in DEFAULT_EVALUATORS.items() if environ.get(variable)), rules_judge.NAME)


@dataclass(frozen=True, slots=True)
class EvaluatorConfig:
    """An evaluator, and where its questions are sent."""

    evaluator: str
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    base_url: str | None = None
    key: str | None = field(default=None, repr=False)
    clock: Clock = field(default_factory=SystemClock)

    def check(self) -> None:
        """Raise an error for what would stop the first call: an unknown model, a missing key."""
        endpoint = self.endpoint
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
        return catalog.endpoint(provider, self.environ, base_url=self.base_url, key=self.key)

    @property
    def name(self) -> str:
        """Return the evaluator's full name, even if only the model was given."""
        if self.evaluator == rules_judge.NAME:
            return self.evaluator
        provider, model = catalog.find(self.evaluator)
        return f"{provider.name}/{model}"

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
            wire = None
            if judge.provider and endpoint:
                from salvo.engine.wire.http import HttpWire  # heavy (aiohttp), and the rules judge needs none

                endpoints = {judge.provider: endpoint}
                wire = await stack.enter_async_context(HttpWire(endpoints, redactor, clock=self.clock))
            yield EvaluationContext(
                judge=judge,
                wire=wire,
                redactor=redactor,
                clock=self.clock,
                pool=pool or Pool(CONCURRENCY),
                open_recorder=open_recorder,
                on_event=on_event,
            )
