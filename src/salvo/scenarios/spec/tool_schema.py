"""The schema of an agent's tools in a scenario file: names of functions, tools without code, and MCP servers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, Tag, WithJsonSchema, model_validator

from salvo.engine.jsonio.pydantic_errors import kind_discriminator
from salvo.scenarios.spec.file_model import FileModel, matches

TOOL_NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
ToolName = Annotated[
    str,
    matches(TOOL_NAME.pattern, "must have at most 64 letters, digits, _ and -, as the providers require"),
    WithJsonSchema({"type": "string", "pattern": TOOL_NAME.pattern}),
]


class ToolResponse(FileModel):
    """What a YAML tool returns: a result or an error. `when` is matched against the call's arguments."""

    when: dict[str, Any] | None = Field(None, description="Arguments that a call must have, nested ones too.")
    result: Any = Field(None, description="What the tool returns.")
    error: str | None = Field(None, description="What the tool fails with, instead of a result.")
    delay: float = Field(0.0, ge=0, le=3600, description="Seconds before it returns.")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if self.error is not None and self.result is not None:
            raise ValueError("has a result and an error; a call returns one of them")
        return self


class YamlTool(FileModel):
    """A tool without code. It returns its responses in order, and then repeats the last one."""

    name: ToolName = Field(description="What the model calls it.")
    description: str = Field("", description="What it does, for the model.")
    parameters: dict[str, Any] = Field(
        {"type": "object", "properties": {}}, description="JSON Schema of the arguments."
    )
    response: Any = Field(None, description="The one result of every call.")
    responses: list[ToolResponse] | None = Field(None, min_length=1, description="Instead of `response`: several.")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if self.responses is not None and self.response is not None:
            raise ValueError("has a response and responses; a tool has one or the other")
        return self


Words = Annotated[str, Field(min_length=1)] | Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
_SERVER_NAME = r"^[A-Za-z0-9_-]{1,64}$"
ServerName = Annotated[
    str,
    matches(_SERVER_NAME, "must have at most 64 letters, digits, _ and -"),
    WithJsonSchema({"type": "string", "pattern": _SERVER_NAME}),
]
_NEEDS_COMMAND = ("env", "pass_env", "cwd")


def _date_as_text(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


class McpServer(FileModel):
    """An MCP server whose tools the agent gets: a program that Salvo starts, or an address."""

    command: Words | None = Field(
        None, description="The program and its arguments; a text is split as a shell would, and no shell runs it."
    )
    cwd: str | None = Field(
        None, min_length=1, description="Where it runs, from the scenario's folder; else the project's root."
    )
    env: dict[str, str] = Field({}, description="Variables to set for the program. ${NAME} is filled in.")
    pass_env: list[str] = Field([], description="Variables of this environment that the program gets too.")
    url: str | None = Field(None, min_length=1, description="Instead of a command: its address (streamable HTTP).")
    headers: dict[str, str] = Field(
        {}, description="Headers of every request to the address. ${NAME} is filled in; they are never stored."
    )
    scope: Literal["run", "batch"] = Field(
        "run", description="run: every run has a server of its own; batch: one is started for all runs."
    )
    tools: list[str] | None = Field(None, min_length=1, description="Which of its tools the agent gets. Default: all.")
    timeout: float = Field(30.0, gt=0, le=3600, allow_inf_nan=False, description="Seconds for each of its answers.")
    # YAML reads these versions as dates.
    protocol: Annotated[Literal["auto", "2026-07-28", "2025-11-25"], BeforeValidator(_date_as_text)] = Field(
        "auto", description="The version of the protocol; auto tries the newer one first."
    )
    faults: dict[str, Annotated[list[ToolResponse], Field(min_length=1)]] = Field(
        {},
        description="By tool: what calls get instead of the server's answer. Each is used once, in order; one with "
        "a delay only lets the server answer after it.",
    )

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("needs a command or a url, and not both")
        for name in _NEEDS_COMMAND if self.url is not None else ("headers",):
            if getattr(self, name):
                raise ValueError(
                    f"has {name}, which only a server with a {'url' if name == 'headers' else 'command'} has"
                )
        return self

    @property
    def words(self) -> list[str]:
        return shlex.split(self.command) if isinstance(self.command, str) else list(self.command or ())

    def folder(self, file: Path, root: Path) -> Path:
        return root if self.cwd is None else file.parent / self.cwd


def _tool_tag(tool: Any) -> str | None:
    if isinstance(tool, str):
        return "tool-name"
    return "tool-definition" if isinstance(tool, Mapping | YamlTool) else None


Tool = Annotated[
    Annotated[str, Field(min_length=1), Tag("tool-name")] | Annotated[YamlTool, Tag("tool-definition")],
    # Without a discriminator, a misspelt field of a definition would also be reported as "must be text".
    kind_discriminator(_tool_tag, "a name or a definition"),
]
