"""`adapter: mcp`: MCP servers under test, without an agent.

Their tools are listed and called as the scenario says; and a model may be asked which tool it would choose for a
prompt, without calling it. Everything goes through the toolbox and the wire, so it is recorded and replayed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from salvo.engine.chat import catalog
from salvo.engine.chat.base import ChatRequest, UserMessage
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.json_schema import check, problems_in_time
from salvo.engine.jsonio.pydantic_errors import FieldError, validate
from salvo.engine.runtime.pool import gather
from salvo.engine.runtime.threads import in_thread
from salvo.errors import InputError, UsageError
from salvo.scenarios.result import AdapterRequest, AdapterResponse, RunMetrics, ToolCall
from salvo.scenarios.run.adapters.bad_arguments import bad_arguments
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.spec.file_model import FileModel
from salvo.scenarios.spec.schema import Scenario
from salvo.scenarios.spec.tool_schema import TOOL_NAME

_OPTIONS = "adapter_options"
_OBJECT = "object"


class TestedCall(FileModel):
    """A call of a tool. Its arguments are sent as they are, also if they do not fit the tool's schema."""

    tool: str = Field(min_length=1, description="Which tool is called.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="What it gets.")


class ChoicePrompt(FileModel):
    """A prompt, and the tool that a model should choose for it."""

    prompt: str = Field(min_length=1, description="What a user says.")
    tool: str | list[str] | None = Field(description="The tool, or the tools, to choose; nothing: none.")

    @property
    def expected(self) -> list[str]:
        return [self.tool] if isinstance(self.tool, str) else list(self.tool or ())


class McpTestOptions(FileModel):
    """`adapter_options` of the test of MCP servers."""

    calls: list[TestedCall] = Field(default_factory=list, description="The calls to make, in this order.")
    bad_arguments: bool | Annotated[list[str], Field(min_length=1)] = Field(
        default=False,
        description="Also call these tools with arguments that their schemas do not allow; true: all that are called.",
    )
    prompts: list[ChoicePrompt] = Field(
        default_factory=list, description="Prompts for which the scenario's model chooses a tool, without a call."
    )
    max_tokens: int | None = Field(
        None, ge=1, description="The most tokens of the reply to a prompt. Default: the provider's."
    )


class McpAdapter(BaseAdapter):
    """Lists and calls the tools of the scenario's servers, and asks the scenario's model to choose among them."""

    async def run(self, request: AdapterRequest) -> AdapterResponse:
        options, errors = validate(McpTestOptions, dict(request.options))
        if options is None:
            raise InputError(f"{_OPTIONS} are not valid: {errors[0].message}.", hint="`salvo validate` shows where.")
        tools = {tool["name"]: tool for tool in await self._tools()}
        calls = [await self._call(call, tools) for call in options.calls]
        bad_calls = [
            await self._call_badly(name, what, arguments, tools)
            for name, what, arguments in await self._bad_cases(options, tools)
        ]
        choices = await gather(
            self._choose(request, number, item, tools) for number, item in enumerate(options.prompts, start=1)
        )
        output = {
            "servers": {
                name: {"name": item.name, "version": item.version, "protocol": item.protocol}
                for name, item in self.context.listings.items()
            },
            "tools": list(tools.values()),
            "calls": calls,
            "bad_arguments": bad_calls,
            "choices": choices,
        }
        # Without prompts no model is asked, so the cost is known.
        metrics = RunMetrics() if options.prompts else RunMetrics(tokens=0, cost=0.0)
        return AdapterResponse(output, metrics=metrics)

    async def _tools(self) -> list[dict[str, Any]]:
        """Return what the servers list, with the problems of each tool."""
        return [
            {
                "server": server,
                "name": tool["name"],
                "description": tool.get("description"),
                "input_schema": tool["inputSchema"],
                "output_schema": tool.get("outputSchema"),
                "annotations": tool.get("annotations"),
                "problems": await _tool_problems(tool),
            }
            for server, listing in self.context.listings.items()
            for tool in listing.tools
        ]

    async def _call(self, tested: TestedCall, tools: Mapping[str, Any]) -> dict[str, Any]:
        call = await self._send(tested.tool, tested.arguments)
        problems: list[str] = []
        schema = tools.get(call.name, {}).get("output_schema")
        if isinstance(schema, dict) and call.error is None:
            problems = await _value_problems(schema, call.result)
        return {**_described(call), "problems": problems}

    async def _bad_cases(
        self, options: McpTestOptions, tools: Mapping[str, Any]
    ) -> list[tuple[str, str, dict[str, Any]]]:
        """Return the calls with bad arguments: the tool, what is wrong, and the arguments."""
        names = list(dict.fromkeys(call.tool for call in options.calls))
        names = options.bad_arguments if isinstance(options.bad_arguments, list) else names
        cases = []
        for name in names if options.bad_arguments else ():
            schema = tools.get(name, {}).get("input_schema")
            if not isinstance(schema, dict):
                raise InputError(f"No server lists the tool {name}, which is to be called with bad arguments.")
            example = next((call.arguments for call in options.calls if call.tool == name), {})
            for what, arguments in bad_arguments(schema, example):
                # Only what the schema forbids is a bad argument: a property may allow more than its type.
                if await _value_problems(schema, arguments):
                    cases.append((name, what, arguments))
        return cases

    async def _call_badly(
        self, name: str, what: str, arguments: dict[str, Any], tools: Mapping[str, Any]
    ) -> dict[str, Any]:
        call = await self._send(name, arguments)
        return {**_described(call), "server": tools[name]["server"], "wrong": what, "rejected": call.error is not None}

    async def _send(self, tool: str, arguments: dict[str, Any]) -> ToolCall:
        call = await self.context.toolbox.call(tool, arguments, check=False)
        self.context.journal.record_tool_call(call)
        return call

    async def _choose(
        self, request: AdapterRequest, number: int, item: ChoicePrompt, tools: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Ask the model once, with the tools of the servers and those of the scenario, which are decoys."""
        model = self.context.chat_model(request.model)
        reply = await model.complete(
            ChatRequest(
                messages=(UserMessage(item.prompt),),
                system=request.system_prompt,
                tools=tuple(request.tools),
                temperature=request.temperature,
                seed=request.seed,
                max_tokens=request.options.get("max_tokens"),
                lane=f"choice/{number}",
            )
        )
        chosen = [use.name for use in reply.message.tool_uses]
        first = chosen[0] if chosen else None
        is_offered = first is None or any(tool.name == first for tool in request.tools)
        return {
            "prompt": item.prompt,
            "expected": item.expected,
            "chosen": chosen,
            "is_decoy": is_offered and first is not None and first not in tools,
            "is_offered": is_offered,
            "right": first in item.expected if item.expected else first is None,
        }


def check_mcp_test(scenario: Scenario) -> Iterator[FieldError]:
    """Yield what is wrong with the test of servers, without starting any."""
    if not scenario.mcp_servers:
        yield FieldError(("adapter",), "the adapter mcp tests the servers in mcp_servers, and there are none")
    options, errors = validate(McpTestOptions, scenario.adapter_options)
    for error in errors:
        yield error._replace(path=(_OPTIONS, *error.path))
    if options is None:
        return
    if options.bad_arguments is True and not options.calls:
        yield FieldError((_OPTIONS, "bad_arguments"), "true stands for the tools in calls, and there are none")
    if options.prompts:
        try:
            catalog.find(scenario.model)
        except UsageError as error:
            yield FieldError(("model",), f"the prompts need a model, such as openai/gpt-5.4-mini: {error.message}")


async def _tool_problems(tool: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a tool as it is listed."""
    problems = []
    if not TOOL_NAME.fullmatch(tool["name"]):
        problems.append("the name has other characters than letters, digits, _ and -, or more than 64 of them")
    if tool["inputSchema"].get("type") != _OBJECT:
        problems.append("inputSchema: the type must be object")
    for name in ("inputSchema", "outputSchema"):
        schema = tool.get(name)
        if schema is None:
            continue
        if not isinstance(schema, dict):
            problems.append(f"{name}: must be an object")
            continue
        try:
            await in_thread(check, schema)
        except InputError as error:
            problems.append(f"{name}: {error.message}")
    return problems


async def _value_problems(schema: Mapping[str, Any], value: Any) -> list[str]:
    try:
        return await problems_in_time(schema, value)
    except InputError as error:  # the schema itself is not valid
        return [error.message]


def _described(call: ToolCall) -> dict[str, Any]:
    # A server without structured content returns JSON as text.
    result = json_codec.loads_or_text(call.result) if isinstance(call.result, str) else call.result
    return {
        "tool": call.name,
        "arguments": call.arguments,
        "result": result,
        "error": call.error,
        "seconds": call.seconds,
    }
