"""`adapter: command`: any program, in any language, with its own client and its own tools.

It gets its input, and its models through a gateway on loopback. Its standard output is the final output; the replies
of its models and its tool calls are read from the traffic.
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field

from salvo.engine.chat import catalog
from salvo.engine.chat.base import Stop
from salvo.engine.gateway.paths import PathRules, path_rule_error
from salvo.engine.gateway.server import HOST, Gateway
from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.pydantic_errors import FieldError, validate
from salvo.engine.runtime.credentials import is_known_credential, looks_secret
from salvo.engine.runtime.files import write
from salvo.engine.runtime.subprocesses import MAX_OUTPUT, ProcessResult, run_program
from salvo.engine.wire.base import Wire
from salvo.engine.wire.replay import ReplayWire
from salvo.errors import BadReplyError, ContextTooLongError, InputError, ProviderError
from salvo.records import record
from salvo.scenarios.result import AdapterRequest, AdapterResponse, Stopped, ToolCall
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.adapters.served_tools import OWN, ServedTools
from salvo.scenarios.run.adapters.tool_loop import LANE
from salvo.scenarios.run.call_limits import CallLimitOptions
from salvo.scenarios.run.child_environ import passed_variables, program_error
from salvo.scenarios.run.program_trace import ProgramTrace, TurnLimitReached
from salvo.scenarios.spec.env_variables.variables import expand_variables, find_variables
from salvo.scenarios.spec.schema import Scenario

if TYPE_CHECKING:
    from salvo.scenarios.run.adapters.command_conversation import ConversationProgram

_FIELDS = ("user_message", "system_prompt", "model", "temperature", "seed", "max_turns", "output_schema")
_INPUT = "{input}"
_MCP_CONFIG = "{mcp_config}"
STOPS = {Stop.REFUSAL: Stopped.REFUSAL, Stop.LENGTH: Stopped.LENGTH}
_MAX_SHOWN = 200
_LINES_SHOWN = 3

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


@dataclass
class CommandAdapter(BaseAdapter):
    file: Path
    root: Path
    environ: Mapping[str, str]
    is_conversation: bool = False
    _program: ConversationProgram | None = None
    """The one process of a conversation."""

    async def run(self, request: AdapterRequest) -> AdapterResponse:
        options, errors = validate(CommandOptions, dict(request.options))
        if options is None:
            raise InputError(
                f"adapter_options are not valid: {errors[0].message}.", hint="`salvo validate` shows where."
            )
        if options.conversation == "process":
            return await self._ask_process(options, request)
        context = self.context
        traffic: list[ToolCall] = []
        trace = ProgramTrace(context.journal, traffic, request.max_turns)
        tools = ServedTools(context, trace)
        try:
            paths = path_rules(options, context.wire)
            async with Gateway(context.wire, trace, lane=LANE, paths=paths, services=tools.services()) as gateway:
                with pass_input(
                    options,
                    request,
                    tools.config(gateway.origin, gateway.token),
                    with_messages=self.is_conversation,
                ) as passed:
                    variables = {
                        **gateway.environ,
                        **tools.variables(gateway.origin, gateway.token),
                        **passed.variables,
                    }
                    result = await run_program(
                        passed.words,
                        folder=options.folder(self.file, self.root),
                        environ=command_environ(options, request, self.environ, variables),
                        stdin=passed.stdin,
                        until=trace.over,
                    )
        finally:
            trace.end()
            tools.add_to(traffic)
        context.journal.tolerated_fault = context.journal.tolerated_fault or _tolerated_fault(result, trace)
        return _response(result, trace)

    async def _ask_process(self, options: CommandOptions, request: AdapterRequest) -> AdapterResponse:
        if self._program is None:
            # Few programs hold a conversation in one process.
            from salvo.scenarios.run.adapters.command_conversation import ConversationProgram

            self._program = ConversationProgram(self.context)
            environ = partial(command_environ, options, request, self.environ)
            await self._program.start(options, request, options.folder(self.file, self.root), environ)
        return await self._program.answer(request)

    async def end_conversation(self) -> None:
        if self._program is not None:
            await self._program.close()


def check_command(scenario: Scenario, file: Path, root: Path, environ: Mapping[str, str]) -> Iterator[FieldError]:
    """Yield what is wrong with a command's scenario, without running it."""
    field = "adapter_options"
    options, errors = validate(CommandOptions, expand_variables(scenario.adapter_options, environ))
    for error in errors:
        if error.path and error.path[0] in scenario.adapter_options:
            yield error._replace(path=(field, *error.path))
        else:  # a missing field has no place of its own
            yield FieldError((field,), f"{'.'.join(map(str, error.path))} {error.message}")
    if scenario.tools and OWN in scenario.mcp_servers:
        yield FieldError(("mcp_servers", OWN), "is the name under which the command gets the scenario's own tools")
    if options is None:
        return
    if not scenario.is_conversation and options.conversation != "turn":
        yield FieldError((field, "conversation"), "only a scenario with `turns` or `user` is a conversation")
    if scenario.is_conversation and options.conversation == "turn" and options.input == "text":
        message = "needs `input: json`, with what was said before, or `conversation: process`"
        yield FieldError((field,), f"in a conversation, a command {message}")
    reads_all = options.input == "json" or (scenario.is_conversation and options.conversation == "process")
    for name in ("system_prompt", "output_schema", "temperature"):
        if getattr(scenario, name) and not reads_all:
            yield FieldError((name,), "a command gets this only with `input: json` in adapter_options")
    program_errors = _check_program(options, options.folder(file, root), environ)
    for error in (*_check_keys(options, scenario, environ), *program_errors):
        yield error._replace(path=(field, *error.path))


def _check_keys(options: CommandOptions, scenario: Scenario, environ: Mapping[str, str]) -> Iterator[FieldError]:
    """Yield the variables that would give the program a provider's key, which never leaves this process.

    A credential that it asks for and that is not set is an error, too: every run would fail.
    """
    providers = catalog.providers().values()
    key_variables = [provider.key_variable for provider in providers]
    ours = {*key_variables, *(provider.base_url_variable for provider in providers)}
    for name in options.env:
        if name in ours:
            yield FieldError(("env", name), "is set by Salvo, to lead the program's client to it")
    for use in find_variables(scenario.adapter_options):
        if use.name in key_variables and use.path[-1] not in ours:
            yield FieldError(use.path, "a provider's key is never given to a command")
    for index, name in enumerate(options.pass_env):
        if name in ours:
            yield FieldError(("pass_env", index), "is set by Salvo, to lead the program's client to it")
        elif name not in environ and (looks_secret(name) or is_known_credential(name)):
            yield FieldError(("pass_env", index), f"the environment variable {name} is not set")


def _check_program(options: CommandOptions, folder: Path, environ: Mapping[str, str]) -> Iterator[FieldError]:
    try:
        words = options.words
    except ValueError as error:
        yield FieldError(("command",), f"cannot be split into words: {error}")
        return
    if not folder.is_dir():
        yield FieldError(("cwd",), "there is no such folder, relative to the scenario's folder")
        return
    if not words:
        yield FieldError(("command",), "must not be empty")
        return
    if error_text := program_error(words, folder, options.env.get("PATH", environ.get("PATH"))):
        yield FieldError(("command",), error_text)


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


def _response(result: ProcessResult, trace: ProgramTrace) -> AdapterResponse:
    """Return the response. An error that is not the program's is raised, which makes the run an error."""
    details = {"exit_code": result.exit_code, **({"stderr": result.errors} if result.errors else {})}
    if trace.over.done():
        over = trace.over.result()
        if not isinstance(over, TurnLimitReached):
            raise over
        return AdapterResponse(None, stopped=Stopped.TURN_LIMIT, details=details)
    # A program can do without an answer, but what it made of a reply that is none says nothing.
    if trace.error is not None and (result.exit_code != 0 or isinstance(trace.error, BadReplyError)):
        raise trace.error
    text = result.output.rstrip("\r\n")
    if result.output_truncated:
        error = f"The program wrote more than {MAX_OUTPUT:,} bytes."
        return AdapterResponse(None, stopped=Stopped.EXIT, error=error, details=details)
    if result.exit_code:
        stopped = Stopped.CONTEXT if isinstance(trace.refused, ContextTooLongError) else Stopped.EXIT
        return AdapterResponse(text or None, stopped=stopped, error=exit_error(result, trace), details=details)
    stopped_by_model = STOPS.get(trace.stop) if trace.stop is not None else None
    return AdapterResponse(text, stopped=stopped_by_model, details=details)


def _tolerated_fault(result: ProcessResult, trace: ProgramTrace) -> ProviderError | None:
    """Return why the program's last call failed, if it ended well all the same."""
    error = trace.error if result.exit_code == 0 else None
    return error if isinstance(error, ProviderError) else None


def exit_error(result: ProcessResult, trace: ProgramTrace) -> str:
    code = result.exit_code or 0
    how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
    why = f" {trace.refused}" if trace.refused else ""
    lines = [line.strip() for line in result.errors.splitlines() if line.strip()]
    end = " | ".join(lines[-_LINES_SHOWN:])
    excerpt = end if len(end) <= _MAX_SHOWN else f"…{end[-_MAX_SHOWN:]}"
    return f"The program {how}.{why}" + (f" The end of its standard error: {excerpt}" if end else "")
