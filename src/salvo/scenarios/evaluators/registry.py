"""Which types of assertion there are, and all assertions of a run at once.

Built-ins are registered exactly as a user's are. An evaluator that breaks leaves its own assertion unjudged; the run
and the other assertions are never lost.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel, create_model

from salvo.engine.jsonio.pydantic_errors import validate
from salvo.engine.runtime.pool import gather
from salvo.engine.text.messages import did_you_mean
from salvo.errors import ProviderError, SalvoError, TapeError, UsageError
from salvo.scenarios.evaluators.base import EvalServices, EvaluatorType, Load, Place
from salvo.scenarios.evaluators.custom import wrapped
from salvo.scenarios.evaluators.verdict import verdict_of
from salvo.scenarios.result import AgentRunResult, Cause, EvalResult
from salvo.scenarios.spec.schema import Assertion, Scenario

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from salvo.engine.chat.judge import JudgeVote, Question

GROUP = "salvo.evaluators"
"""The entry-point group in which an installed package may offer types of its own."""

_DISTRIBUTION = "salvo-ai"
_STALE_METADATA = (
    "The installed metadata of salvo-ai is older than its code, so types such as playbook are missing. "
    "Install it again: pip install salvo-ai, or pip install --editable . in its repository."
)

BUILT_IN = ("jmespath", "tool_sequence", "cost_limit", "latency_limit", "llm_judge", "custom")

Target: TypeAlias = EvaluatorType | Callable[..., Any] | str
"""A type, a plain function `(scenario, assertion, result)`, or either as "module:attribute", imported when needed."""


class Registry:
    """The assertion types by name: those that are registered here, and those that installed packages offer.

    Entry points are only looked up for a name that is not registered, or to list all names: the lookup reads the
    metadata of every installed package.
    """

    def __init__(self) -> None:
        self._targets: dict[str, Target] = {}
        self._types: dict[str, EvaluatorType] = {}

    def register(self, name: str, target: Target) -> None:
        if name in self._targets:
            raise UsageError(f'The assertion type "{name}" is already registered.', hint="Choose another name.")
        self._targets[name] = target

    def names(self) -> list[str]:
        """Return the names of all types, those of installed packages included."""
        return sorted({*self._targets, *_entry_points().names})

    def types(self) -> dict[str, EvaluatorType]:
        """Import and return all types, for the JSON Schema of a scenario file."""
        if is_metadata_stale():
            raise UsageError("The assertion types cannot be listed.", hint=_STALE_METADATA)
        return {name: self.find(name) for name in self.names()}

    def find(self, name: str) -> EvaluatorType:
        """Return the type of this name; raise UsageError if there is none."""
        if name not in self._types:
            target = self._targets[name] if name in self._targets else self._entry_point(name)
            self._types[name] = _as_type(name, target)
        return self._types[name]

    def _entry_point(self, name: str) -> str:
        for entry_point in _entry_points().select(name=name):
            return f"{entry_point.module}:{entry_point.attr}"
        names = self.names()
        hint = f"Types: {', '.join(names)}."
        if is_metadata_stale():
            hint = f"{hint} {_STALE_METADATA}"
        raise UsageError(f'There is no assertion type "{name}"{did_you_mean(name, names)}', hint=hint)

    def findings(self, scenario: Scenario, load: Load) -> Iterator[tuple[Place, str]]:
        """Every problem of a scenario's assertions: where, as in ("assertions", 2, "operator"), and what to mend."""
        names: dict[str, int] = {}
        for number, assertion in enumerate(scenario.assertions):
            if assertion.name is not None:
                first = names.setdefault(assertion.name, number)
                if first != number:
                    same = f'Assertion {first + 1} is already called "{assertion.name}".'
                    yield ("assertions", number, "name"), same
            for place, sentence in self._problems(scenario, assertion, load):
                yield ("assertions", number, *place), sentence

    def _problems(self, scenario: Scenario, assertion: Assertion, load: Load) -> Iterator[tuple[Place, str]]:
        try:
            found = self.find(assertion.type)
        except UsageError as fault:
            yield ("type",), str(fault)
            return
        try:
            yield from _problems_of(found, scenario, assertion, load)
        except Exception as fault:  # noqa: BLE001 - a stranger's check must not hide what the others found
            yield (), f"{assertion.type} cannot be checked: {type(fault).__name__}: {fault}"


def _problems_of(
    type_: EvaluatorType, scenario: Scenario, assertion: Assertion, load: Load
) -> Iterator[tuple[Place, str]]:
    given = assertion.fields
    spelt: dict[str, str] = {}
    if type_.fields is not None and validate(type_.fields, given)[1]:
        shape = _with_common_fields(type_.fields)
        _, misfits = validate(shape, given)
        yield from ((misfit.path, misfit.message) for misfit in misfits)
        # What is only misspelt is checked as what was meant, so that every problem is told at once.
        spelt = {
            str(misfit.path[0]): misfit.suggestion for misfit in misfits if misfit.unknown and len(misfit.path) == 1
        }
        given = _respelt(given, spelt)
        if validate(shape, given)[1]:
            return
    if type_.check is not None:
        written = {meant: name for name, meant in spelt.items()}
        for place, sentence in type_.check(scenario, given, load):
            field, *inside = (place,) if isinstance(place, str) else place
            yield (written.get(str(field), field), *inside), sentence


@cache
def _with_common_fields(fields: type[BaseModel]) -> type[BaseModel]:
    """So that a misspelt `weight`, which looks like a field of the type, is told what was meant."""
    common: dict[str, Any] = {name: (Any, None) for name in Assertion.model_fields if name not in fields.model_fields}
    return create_model(fields.__name__, __base__=fields, **common)


def _respelt(given: Mapping[str, Any], spelt: Mapping[str, str]) -> dict[str, Any]:
    """Without what belongs to nobody, and what turns out to be a field that all assertions have."""
    respelt = {spelt.get(name, name): value for name, value in given.items()}
    return {name: value for name, value in respelt.items() if name and name not in Assertion.model_fields}


def builtin_registry() -> Registry:
    """Return a registry with the six built-in types."""
    registry = Registry()
    for name in BUILT_IN:
        registry.register(name, f"salvo.scenarios.evaluators.{name}:TYPE")
    return registry


def _as_type(name: str, target: Target) -> EvaluatorType:
    if isinstance(target, str):
        target = _imported(name, target)
    if isinstance(target, EvaluatorType):
        return target
    if callable(target):
        return wrapped(name, target)
    raise UsageError(
        f'The assertion type "{name}" is registered as {target!r}.',
        hint="It must be an EvaluatorType or a function (scenario, assertion, result) -> EvalResult.",
    )


def _entry_points() -> EntryPoints:
    from importlib import metadata  # slow to import, and most scenarios use built-in types only

    return metadata.entry_points(group=GROUP)


def is_metadata_stale() -> bool:
    """Return whether Salvo's installed metadata is missing or older than its entry points."""
    from importlib import metadata  # as above

    try:
        return not metadata.distribution(_DISTRIBUTION).entry_points.select(group=GROUP)
    except metadata.PackageNotFoundError:
        return True


def _imported(name: str, target: str) -> Any:
    module, _, attribute = target.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except SalvoError:
        raise
    except Exception as fault:
        raise UsageError(
            f'The assertion type "{name}" cannot be imported from {target}: {type(fault).__name__}: {fault}.',
            hint="Mend the package that offers it, or remove it.",
        ) from fault
    return found


async def evaluate_all(
    scenario: Scenario, result: AgentRunResult, registry: Registry, services_for: Callable[[int], EvalServices]
) -> list[EvalResult]:
    """In the order of the file. `services_for` gets an assertion's place, from 0."""
    begun = [
        _begin(scenario, assertion, result, registry, services_for(place))
        for place, assertion in enumerate(scenario.assertions)
    ]
    ended = iter(await gather(item for item in begun if not isinstance(item, EvalResult)))
    verdicts = [item if isinstance(item, EvalResult) else next(ended) for item in begun]
    return [_labelled(verdict, assertion) for verdict, assertion in zip(verdicts, scenario.assertions, strict=True)]


def _begin(
    scenario: Scenario, assertion: Assertion, result: AgentRunResult, registry: Registry, services: EvalServices
) -> EvalResult | Coroutine[Any, Any, EvalResult]:
    """The verdict, where it can be given at once, as most can; else what is left to wait for."""
    limit = asyncio.timeout(scenario.timeout)
    try:
        evaluate = registry.find(assertion.type).factory(_Unhurried(services, limit))
        returned = evaluate(scenario, assertion, result)
        if not inspect.isawaitable(returned):
            return verdict_of(returned, assertion.type)
    except Exception as fault:  # noqa: BLE001 - whatever it was, what has been paid for is kept
        return _broken(assertion, fault)
    return _end(returned, assertion, limit, scenario.timeout)


async def _end(
    awaited: Awaitable[EvalResult], assertion: Assertion, limit: asyncio.Timeout, seconds: float
) -> EvalResult:
    """Each has the scenario's timeout for itself: a user's evaluator that never ends must not keep the run."""
    try:
        async with limit:
            return verdict_of(await awaited, assertion.type)
    except Exception as fault:  # noqa: BLE001 - as above
        return _too_slow(assertion, seconds) if limit.expired() else _broken(assertion, fault)


class _Unhurried:
    """An evaluator's services. What a judge takes is not the evaluator's time: its calls have limits of their own."""

    def __init__(self, services: EvalServices, limit: asyncio.Timeout) -> None:
        self._services = services
        self._limit = limit
        self._asking = 0
        self._left = 0.0

    async def ask(self, model: str, question: Question, votes: int) -> list[JudgeVote]:
        self._stop()
        try:
            return await self._services.ask(model, question, votes)
        finally:
            self._go_on()

    def load(self, path: str) -> Any:
        return self._services.load(path)

    def _stop(self) -> None:
        """The clock of the evaluator stands still while anyone of those it asked at the same time still thinks."""
        ends = self._limit.when()
        if ends is not None and not self._asking:
            self._left = ends - asyncio.get_running_loop().time()
            self._limit.reschedule(None)
        self._asking += 1

    def _go_on(self) -> None:
        self._asking -= 1
        if not self._asking:
            self._limit.reschedule(asyncio.get_running_loop().time() + self._left)


def _too_slow(assertion: Assertion, seconds: float) -> EvalResult:
    who = assertion.fields.get("function") or assertion.fields.get("path") or assertion.type
    said = f"{who} took longer than {seconds:g} s, the scenario's timeout, and was given up on."
    return EvalResult.unjudged(said, Cause.EVALUATOR)


def _labelled(verdict: EvalResult, assertion: Assertion) -> EvalResult:
    verdict.name, verdict.type = assertion.label, assertion.type
    verdict.required, verdict.weight = assertion.required, assertion.weight
    return verdict


def _broken(assertion: Assertion, fault: Exception) -> EvalResult:
    # Only a judge asks a provider here, or a tape in its place.
    cause = Cause.JUDGE if isinstance(fault, (ProviderError, TapeError)) else Cause.EVALUATOR
    said = str(fault) if isinstance(fault, SalvoError) else f"{type(fault).__name__}: {fault}"
    return EvalResult.unjudged(f"{assertion.type} could not be evaluated. {said}", cause)
