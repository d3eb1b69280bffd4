"""What an evaluator is: a function `(scenario, assertion, result, services) -> EvalResult`, and its type."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from pydantic import BaseModel

from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.errors import InputError
from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.judge_server import JudgeServer
from salvo.scenarios.spec.schema import Assertion, Scenario

if TYPE_CHECKING:
    from salvo.engine.chat.judge import JudgeVote, Question

LoadObject: TypeAlias = Callable[[str], Any]
"""Returns a user's function or class by its dotted path, from the scenario's folder upward."""

FieldMessages: TypeAlias = Iterable[tuple[str | FieldPath, str]]
"""Errors as (field, message), where the field is a name, or a path such as ("expected", 1)."""


def refuse_to_load(path: str) -> Any:
    """Raise InputError: the LoadObject of a scenario that comes from a store, which does not choose code."""
    raise InputError(f'"{path}" is named by a stored scenario only, so it is not imported.')


class RunServices(Protocol):
    """What a run offers to one of its assertions."""

    async def ask(
        self, model: str, question: Question, votes: int, server: JudgeServer | None = None
    ) -> list[JudgeVote]:
        """Ask a judge, at the provider's own address or at its server. Its calls are recorded, retried and paid for as
        the agent's are."""
        ...

    @property
    def load(self) -> LoadObject: ...


class EvalServices(RunServices, Protocol):
    """What an evaluator may use besides the result, for one assertion of one run."""

    async def evaluate_parts(self) -> list[EvalResult]:
        """Evaluate the assertions that this one is composed of, in the order of the file."""
        ...


class EvaluatorType(NamedTuple):
    """A type of assertion: the fields it has in a file, and how it is evaluated."""

    name: str
    evaluate: Callable[[Scenario, Assertion, AgentRunResult, EvalServices], EvalResult | Awaitable[EvalResult]]
    fields: type[BaseModel] | None = None
    """The model of the assertion's own fields; None allows any fields."""
    check: Callable[[Scenario, Mapping[str, Any], LoadObject], FieldMessages] | None = None
    """Finds errors that the model cannot, such as a regular expression that does not compile. It gets the scenario,
    the assertion's fields, which fit the model, and a function that loads dotted paths. It must not call a provider."""
    judge_model: Callable[[Scenario, Mapping[str, Any]], str | None] | None = None
    """Returns the model that it asks, as provider/model, so that a command can print where calls go."""


def with_alias(name: str, alias: str) -> Callable[[dict[str, Any]], None]:
    """Return a `json_schema_extra` for a field with two names, of which neither is required."""

    def extend(schema: dict[str, Any]) -> None:
        schema["properties"][alias] = schema["properties"][name]
        schema["required"] = [other for other in schema.get("required", []) if other != name]

    return extend
