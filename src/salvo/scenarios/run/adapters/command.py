"""`adapter: command`: any program, in any language, with its own client and its own tools.

It gets its input, and its models through a gateway on loopback. Its standard output is the final output; the replies
of its models and its tool calls are read from the traffic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from salvo.engine.chat import catalog
from salvo.engine.gateway.server import Gateway
from salvo.engine.jsonio.pydantic_errors import FieldError, validate
from salvo.engine.runtime.credentials import is_known_credential, looks_secret
from salvo.engine.runtime.subprocesses import MAX_OUTPUT, ProcessResult, run_program
from salvo.errors import BadReplyError, ContextTooLongError, InputError, ProviderError
from salvo.scenarios.result import AdapterRequest, AdapterResponse, Stopped, ToolCall
from salvo.scenarios.run.adapters.base import BaseAdapter
from salvo.scenarios.run.adapters.command_conversation import ConversationProgram
from salvo.scenarios.run.adapters.command_input import CommandOptions, command_environ, pass_input, path_rules
from salvo.scenarios.run.adapters.program_trace import ProgramTrace, TurnLimitReached, exit_error
from salvo.scenarios.run.adapters.served_tools import OWN, ServedTools
from salvo.scenarios.run.adapters.tool_loop import LANE
from salvo.scenarios.run.child_environ import program_error
from salvo.scenarios.spec.env_variables.variables import expand_variables, find_variables
from salvo.scenarios.spec.schema import Scenario


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
    return AdapterResponse(text, stopped=trace.stopped, details=details)


def _tolerated_fault(result: ProcessResult, trace: ProgramTrace) -> ProviderError | None:
    """Return why the program's last call failed, if it ended well all the same."""
    error = trace.error if result.exit_code == 0 else None
    return error if isinstance(error, ProviderError) else None
