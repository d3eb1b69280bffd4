"""The one seam of evaluation: `(scenario, assertion, result) -> EvalResult`, and how a type gets to have one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from pydantic import BaseModel

from salvo.scenarios.result import AgentRunResult, EvalResult
from salvo.scenarios.spec.schema import Assertion, Scenario

if TYPE_CHECKING:
    from salvo.engine.chat.judge import JudgeVote, Question

Evaluate: TypeAlias = Callable[[Scenario, Assertion, AgentRunResult], EvalResult | Awaitable[EvalResult]]

Load: TypeAlias = Callable[[str], Any]
"""A user's function or class by its dotted path."""

Place: TypeAlias = tuple[str | int, ...]
"""Where in an assertion: ("operator",), or ("expected", 1) for the second of a list."""

Check: TypeAlias = Callable[[Scenario, Mapping[str, Any], Load], list[tuple[str | Place, str]]]


def also_called(name: str, alias: str) -> Callable[[dict[str, Any]], None]:
    """For the JSON Schema of a shape: a field with two names, of which an editor then requires neither."""

    def extend(schema: dict[str, Any]) -> None:
        schema["properties"][alias] = schema["properties"][name]
        schema["required"] = [other for other in schema.get("required", []) if other != name]

    return extend


class EvalServices(Protocol):
    """What an evaluator may use besides the result. Bound to one run and one assertion."""

    async def ask(self, model: str, question: Question, votes: int) -> list[JudgeVote]:
        """Asks a judge, in lanes of this assertion; recorded, retried and paid for like everything else."""
        ...

    def load(self, path: str) -> Any:
        """A user's function or class by its dotted path, from the scenario's folder upward."""
        ...


class EvaluatorType(NamedTuple):
    """A type of assertion: what it may say in a file, and how it is evaluated."""

    name: str
    factory: Callable[[EvalServices], Evaluate]
    fields: type[BaseModel] | None = None
    """The shape of the assertion's own fields; None takes anything."""
    check: Check | None = None
    """Problems of one assertion that its shape cannot tell, as (field, sentence): a regular expression that does not
    compile, a function that does not import. Gets the scenario, the assertion's fields, which have the right shape,
    and the loader of dotted paths; costs no call."""
