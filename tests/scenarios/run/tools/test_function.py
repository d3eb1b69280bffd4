"""A Python function as a tool: what the model is told of it, and what happens when it is called."""

import asyncio
import dataclasses
import datetime as dt
import enum
import threading
from types import ModuleType
from typing import Annotated, Any

import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, Field

from salvo import tool
from salvo.errors import InputError
from salvo.scenarios.run.tools.function import FunctionTool, tools_in
from salvo.scenarios.run.tools.toolbox import ToolFailure


class Cabin(enum.Enum):
    ECONOMY = "economy"
    BUSINESS = "business"


class Passenger(BaseModel):
    name: str
    age: int = Field(ge=0)


def search(
    origin: str,
    day: dt.date,
    cabin: Cabin = Cabin.ECONOMY,
    passengers: list[Passenger] | None = None,
    limit: Annotated[int, Field(le=50)] = 10,
) -> list[dict[str, Any]]:
    """Find flights.

    Cheapest first.

    Args:
        origin: Airport code, such as SFO.
        day (date): When to fly.

    Returns:
        The flights.
    """
    return [{"origin": origin, "day": day, "cabin": cabin, "passengers": passengers, "limit": limit}]


def test_the_definition_comes_from_signature_hints_and_docstring() -> None:
    definition = FunctionTool("search", search).definition
    assert (definition.name, definition.description) == ("search", "Find flights.\n\nCheapest first.")
    assert definition.parameters == snapshot(
        {
            "$defs": {
                "Cabin": {"enum": ["economy", "business"], "type": "string"},
                "Passenger": {
                    "properties": {"name": {"type": "string"}, "age": {"minimum": 0, "type": "integer"}},
                    "required": ["name", "age"],
                    "type": "object",
                },
            },
            "additionalProperties": False,
            "properties": {
                "origin": {"type": "string", "description": "Airport code, such as SFO."},
                "day": {"format": "date", "type": "string", "description": "When to fly."},
                "cabin": {"$ref": "#/$defs/Cabin", "default": "economy"},
                "passengers": {
                    "anyOf": [{"items": {"$ref": "#/$defs/Passenger"}, "type": "array"}, {"type": "null"}],
                    "default": None,
                },
                "limit": {"default": 10, "maximum": 50, "type": "integer"},
            },
            "required": ["origin", "day"],
            "type": "object",
        }
    )


async def test_arguments_arrive_as_what_the_hints_say_and_the_result_is_plain_json() -> None:
    arguments = {"origin": "SFO", "day": "2027-03-15", "cabin": "business", "passengers": [{"name": "Ada", "age": 36}]}
    assert await FunctionTool("search", search).answer(arguments) == [
        {
            "origin": "SFO",
            "day": "2027-03-15",
            "cabin": "business",
            "passengers": [{"name": "Ada", "age": 36}],
            "limit": 10,
        }
    ]


async def test_what_a_hint_refuses_is_the_tools_error_with_its_place() -> None:
    with pytest.raises(ToolFailure, match=r"passengers\.0\.age"):
        await FunctionTool("search", search).answer(
            {"origin": "SFO", "day": "2027-03-15", "passengers": [{"name": "Ada", "age": -1}]}
        )


async def test_an_exception_of_the_function_is_raised_as_it_is() -> None:
    def broken() -> None:
        raise KeyError("no such flight")

    with pytest.raises(KeyError):
        await FunctionTool("broken", broken).answer({})


async def test_sync_functions_run_beside_the_loop_and_async_ones_on_it() -> None:
    def sync() -> str:
        return threading.current_thread().name

    async def on_loop() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    here = threading.current_thread().name
    assert await FunctionTool("sync", sync).answer({}) != here
    assert await FunctionTool("on_loop", on_loop).answer({}) == here


async def test_results_of_any_kind_become_json() -> None:
    @dataclasses.dataclass
    class Booking:
        id: str
        paid: dt.datetime

    def book() -> Any:
        return Booking("A-1", dt.datetime(2027, 3, 15, tzinfo=dt.UTC)), {1, 2}, object

    booking, numbers, other = await FunctionTool("book", book).answer({})
    assert booking == {"id": "A-1", "paid": "2027-03-15T00:00:00Z"}
    assert sorted(numbers) == [1, 2]
    assert "object" in other


def test_sphinx_style_parameters_are_read_too() -> None:
    def fly(to: str) -> None:
        """Fly somewhere.

        :param to: Where to.
        """

    assert FunctionTool("fly", fly).definition.parameters["properties"]["to"]["description"] == "Where to."


def test_a_signature_that_a_model_cannot_call_is_an_input_error() -> None:
    def positional(a: int, /) -> int:
        return a

    def unreadable(a: threading.Lock) -> None: ...

    with pytest.raises(InputError, match="positional-only"):
        _ = FunctionTool("positional", positional).definition
    with pytest.raises(InputError, match="has no JSON Schema"):
        _ = FunctionTool("unreadable", unreadable).definition


def test_plain_functions_of_a_module_are_tools_until_one_is_marked() -> None:
    module = ModuleType("my_tools")
    exec(  # noqa: S102 - a module made by a test
        "from json import dumps\ndef search(): ...\ndef _private(): ...\nclass NotATool: ...\n",
        module.__dict__,
    )
    assert set(tools_in(module)) == {"search"}
    vars(module)["book"] = tool(name="book_flight", description="Books.")(vars(module)["search"])
    assert set(tools_in(module)) == {"book_flight"}


def test_the_decorator_may_stand_alone_and_can_rename_and_describe() -> None:
    @tool
    def search() -> None:
        """Finds."""

    @tool(description="Books a flight.")
    def book() -> None:
        """Ignored."""

    assert FunctionTool("search", search).definition.description == "Finds."
    assert FunctionTool("book", book).definition.description == "Books a flight."
