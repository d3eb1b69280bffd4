"""What a program gets: the options that say so, its input, its variables, and the paths that it may use."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from salvo.engine.gateway.paths import PathRules, path_rule_error
from salvo.engine.gateway.server import HOST
from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.files import write
from salvo.engine.wire.base import Wire
from salvo.engine.wire.replay import ReplayWire
from salvo.records import record
from salvo.scenarios.result import AdapterRequest
from salvo.scenarios.run.call_limits import CallLimitOptions
from salvo.scenarios.run.child_environ import passed_variables

_FIELDS = ("user_message", "system_prompt", "model", "temperature", "seed", "max_turns", "output_schema")
_INPUT = "{input}"
_MCP_CONFIG = "{mcp_config}"

Text = Annotated[str, Field(min_length=1)]


def _valid_path_rule(rule: str) -> str:
    if error := path_rule_error(rule):
        raise ValueError(error)
    return rule


class CommandOptions(CallLimitOptions):
    """`adapter_options` of a command."""

    command: Text | Annotated[list[Text], Field(min_length=1)] = Field(
        description="The program and its arguments; a text is split as a shell would, and no shell runs it."
    )
    input: Literal["text", "json"] = Field("text", description="The user's message, or all of the request as JSON.")
    conversation: Literal["turn", "process"] = Field(
        "turn",
        description="In a conversation: one process for each turn, with the messages so far in its JSON input, or one "
        "process for all turns, with a JSON object on one line for each message and each answer.",
    )
    cwd: Text | None = Field(None, description="Where it runs, from the scenario's folder; else the project's root.")
    env: dict[str, str] = Field(default_factory=dict, description="Variables to set for it.")
    pass_env: list[Text] = Field(default_factory=list, description="Variables of this environment that it gets too.")

    allow_paths: list[Annotated[str, AfterValidator(_valid_path_rule)]] = Field(
        default_factory=list,
        description="Paths of the provider that it may use with your key, besides those that ask a model: /files, "
        "or /files/* for all below it.",
    )

    @property
    def words(self) -> list[str]:
        return shlex.split(self.command) if isinstance(self.command, str) else list(self.command)

    def folder(self, file: Path, root: Path) -> Path:
        return root if self.cwd is None else file.parent / self.cwd


def path_rules(options: CommandOptions, wire: Wire) -> PathRules:
    # A replay sends nothing, so that a recording of a version without these rules can be replayed as it is.
    recorded = wire.paths if isinstance(wire, ReplayWire) else ()
    return PathRules([*options.allow_paths, *recorded])


@record
class PassedInput:
    """The words of a command, its standard input, and the variables that name files of its input."""

    words: list[str]
    stdin: bytes
    variables: Mapping[str, str]


def json_input(request: AdapterRequest, *, with_messages: bool) -> bytes:
    """Return what a program gets as JSON; in a conversation with the messages so far."""
    messages = {"messages": request.messages} if with_messages else {}
    return json_codec.dumps({**{name: getattr(request, name) for name in _FIELDS}, **messages})


@contextmanager
def pass_input(
    options: CommandOptions, request: AdapterRequest, config: Mapping[str, Any], *, with_messages: bool
) -> Iterator[PassedInput]:
    """Yield how the program gets its input: {input} in its words is the name of a file with it, and {mcp_config} that
    of a file with the addresses of its MCP servers."""
    words = options.words
    if options.input == "text":
        content = request.user_message.encode("utf-8", "surrogatepass")
    else:
        content = json_input(request, with_messages=with_messages)
    has_input = any(_INPUT in word for word in words)
    has_config = bool(config["mcpServers"]) or any(_MCP_CONFIG in word for word in words)
    if not has_input and not has_config:
        yield PassedInput(words, content, {})
        return
    with tempfile.TemporaryDirectory(prefix="salvo-") as folder:
        variables = {}
        if has_config:
            config_file = Path(folder, "mcp.json")
            write(config_file, json_codec.dumps(config, indent=2))
            variables["SALVO_MCP_CONFIG"] = str(config_file)
            words = [word.replace(_MCP_CONFIG, str(config_file)) for word in words]
        if has_input:
            file = Path(folder, "input.json" if options.input == "json" else "input.txt")
            write(file, content)
            words = [word.replace(_INPUT, str(file)) for word in words]
        yield PassedInput(words, b"" if has_input else content, variables)


def command_environ(
    options: CommandOptions, request: AdapterRequest, environ: Mapping[str, str], gateway: Mapping[str, str]
) -> dict[str, str]:
    passed = passed_variables(environ, options.pass_env)
    variables = {"SALVO_MODEL": request.model, "SALVO_SEED": "" if request.seed is None else str(request.seed)}
    direct = ",".join(part for part in (passed.get("NO_PROXY", ""), HOST, "localhost") if part)
    # The gateway's variables come last: no option can send a key or a request elsewhere.
    return {
        **passed,
        **{name: value for name, value in variables.items() if value},
        **options.env,
        "NO_PROXY": direct,
        "no_proxy": direct,
        **gateway,
    }
