"""The server of a judge: `base_url` and `api_key` of the assertion llm_judge, with ${NAME} as in adapter_options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from salvo.engine.chat import catalog
from salvo.engine.chat.catalog import Provider
from salvo.engine.jsonio.pydantic_errors import FieldPath
from salvo.errors import UsageError
from salvo.scenarios.spec.schema import Scenario

JUDGE = "llm_judge"
ASSERTIONS = "assertions"
FIELDS = ("base_url", "api_key")


class JudgeServer(NamedTuple):
    """The texts of the file. Their variables are filled in when the endpoint is made, so no file has their values."""

    base_url: str | None
    api_key: str | None


class ServerUse(NamedTuple):
    """A judge with a server of its own: where it is in the scenario, its model if it names one, and its fields."""

    path: FieldPath
    model: str | None
    fields: dict[str, Any]

    @property
    def server(self) -> JudgeServer:
        return JudgeServer(self.fields.get("base_url"), self.fields.get("api_key"))


def judge_servers(assertions: Any, path: FieldPath = (ASSERTIONS,)) -> Iterator[ServerUse]:
    """Yield each judge with a server, also inside other assertions. The data may be a file that is not valid."""
    if isinstance(assertions, list):
        for index, item in enumerate(assertions):
            yield from judge_servers(item, (*path, index))
    elif isinstance(assertions, Mapping):
        if assertions.get("type") == JUDGE:
            fields = {name: assertions[name] for name in FIELDS if assertions.get(name)}
            if fields:
                model = assertions.get("model")
                yield ServerUse(path, model if isinstance(model, str) else None, fields)
            return
        for name, value in assertions.items():
            yield from judge_servers(value, (*path, name))


def scenario_judge_servers(scenario: Scenario) -> list[ServerUse]:
    return [
        use
        for path, item in scenario.scored_assertions()
        for use in judge_servers({"type": item.type, **item.fields}, path)
    ]


def document_judge_servers(data: Mapping[str, Any]) -> Iterator[ServerUse]:
    """Yield the same for the data of a file, which may not be valid."""
    turns = data.get("turns")
    for number, turn in enumerate(turns if isinstance(turns, list) else ()):
        if isinstance(turn, Mapping):
            yield from judge_servers(turn.get(ASSERTIONS), ("turns", number, ASSERTIONS))
    yield from judge_servers(data.get(ASSERTIONS))


def user_server(data: Mapping[str, Any]) -> ServerUse | None:
    """Return the server of a simulated user, if it has one of its own. The data may be a file that is not valid."""
    user = data.get("user")
    fields = {name: user[name] for name in FIELDS if user.get(name)} if isinstance(user, Mapping) else {}
    if not fields or not isinstance(user, Mapping):
        return None
    model = user.get("model")
    return ServerUse(("user",), model if isinstance(model, str) else None, fields)


def scenario_user_server(scenario: Scenario) -> ServerUse | None:
    return None if scenario.user is None else user_server({"user": scenario.user.model_dump()})


def judge_provider(scenario: Scenario, model: str | None) -> Provider | None:
    """Return the provider whose protocol the judge speaks; None if the model's name says none."""
    if not model:
        return catalog.providers().get(scenario.adapter)
    try:
        return catalog.find(model)[0]
    except UsageError:
        return None


def without_servers(value: Any) -> Any:
    """Return the data of an assertion without the servers of its judges: what is asked does not depend on them."""
    if isinstance(value, list):
        return [without_servers(item) for item in value]
    if isinstance(value, Mapping):
        dropped = FIELDS if value.get("type") == JUDGE else ()
        return {name: without_servers(item) for name, item in value.items() if name not in dropped}
    return value
