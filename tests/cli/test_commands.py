"""The two commands as a person types them: real processes, what they print, how they end, what they load."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from inline_snapshot import snapshot

from salvo import __version__
from salvo.cli.byop import COMMANDS as BYOP
from salvo.cli.exit_codes import ExitCode
from salvo.cli.lazy import LazyCommand, LazyGroup
from salvo.cli.salvo import COMMANDS as SALVO
from salvo.errors import InputError, OverloadedError, SalvoError, TapeMissError, UsageError

BIN = Path(sys.executable).parent


def run(*command: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    return subprocess.run(
        [str(BIN / command[0]), *command[1:]], capture_output=True, text=True, env={**env, **environ}, check=False
    )


@pytest.mark.parametrize("command", ["salvo", "byop"])
def test_version_and_help_answer(command: str) -> None:
    assert run(command, "--version").stdout == f"{command}, version {__version__}\n"
    shown = run(command, "--help")
    assert shown.returncode == 0
    assert "models" in shown.stdout


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["run", "--help"]], ids=" ".join)
@pytest.mark.parametrize("command", ["salvo", "byop"])
def test_help_loads_nothing_heavy(command: str, arguments: list[str]) -> None:
    code = (
        f"import sys; sys.argv = ['{command}', *{arguments!r}]\n"
        f"from salvo.cli.{command} import {command}\n"
        f"try: {command}()\n"
        "except SystemExit: pass\n"
        "heavy = {'pydantic', 'pydantic_core', 'aiohttp', 'asyncio', 'genai_prices', 'rich', 'jsonschema',\n"
        "         'sqlalchemy', 'fastapi', 'importlib.metadata'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))"
    )
    assert run("python", "-c", code).stdout.endswith("loaded: []\n")


@pytest.mark.parametrize("commands", [SALVO, BYOP], ids=["salvo", "byop"])
def test_the_line_that_lists_a_command_is_the_first_line_of_its_help(commands: dict[str, LazyCommand]) -> None:
    for name, lazy in commands.items():
        command = getattr(import_module(lazy.module), lazy.function or name)
        assert isinstance(command, click.Command)
        assert (command.help or "").splitlines()[0] == lazy.summary


def test_models_lists_what_is_known_and_whether_there_is_a_key() -> None:
    shown = run("salvo", "models", "claude-sonnet-4-6", "gpt-4o", "openai/my-model", OPENAI_API_KEY="sk-test-12345678")
    assert shown.stdout == snapshot("""\
MODEL                        KEY                           TEMPERATURE  PRICE       ENDS
anthropic/claude-sonnet-4-6  ANTHROPIC_API_KEY is not set  taken        $3 / $15
openai/gpt-4o                set                           taken        $2.5 / $10  2027-01-14
openai/my-model              set                           unknown      unknown
""")
    assert "sk-test" not in shown.stdout


def test_models_without_a_name_lists_the_current_ones_as_json_too() -> None:
    listed = json.loads(run("byop", "models", "--json", OPENAI_BASE_URL="http://127.0.0.1:1/v1").stdout)
    keys = {row["name"]: row["key"] for row in listed}
    assert keys["anthropic/claude-sonnet-4-6"] == "ANTHROPIC_API_KEY is not set"
    assert keys["openai/gpt-5.4-mini"] == "not needed"


def test_an_error_is_two_lines_on_stderr_and_no_traceback() -> None:
    failed = run("salvo", "models", "my-model")
    assert failed.returncode == ExitCode.USAGE
    assert failed.stdout == ""
    assert failed.stderr == snapshot("""\
Error: The provider of the model 'my-model' is not known.
Write provider/model, with one of: anthropic, openai. For a server that is compatible with OpenAI's API, write openai/my-model and set a base URL.
""")


def test_an_unknown_command_is_a_usage_error() -> None:
    failed = run("salvo", "fly")
    assert failed.returncode == ExitCode.USAGE
    assert "No such command 'fly'" in failed.stderr


def test_a_closed_pipe_ends_quietly() -> None:
    shown = subprocess.run(f"{BIN / 'salvo'} models | true", shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in shown.stderr


@click.command
@click.argument("outcome")
def raising(outcome: str) -> None:
    """Ends as it is told."""
    errors: dict[str, BaseException] = {
        "usage": UsageError("asked wrongly"),
        "input": InputError("bad file", hint="Mend it."),
        "provider": OverloadedError("down"),
        "tape": TapeMissError("no such request"),
        "other": SalvoError("something"),
        "interrupt": KeyboardInterrupt(),
    }
    raise errors[outcome]


@pytest.mark.parametrize(
    "outcome, code, says",
    [
        ("usage", 2, "Error: asked wrongly\n"),
        ("input", 2, "Error: bad file\nMend it.\n"),
        ("provider", 3, "Error: down\n"),
        ("tape", 3, "Error: no such request\n"),
        ("other", 3, "Error: something\n"),
        ("interrupt", 130, "Interrupted.\n"),
    ],
)
def test_every_error_of_ours_has_its_exit_code(outcome: str, code: int, says: str) -> None:
    group = LazyGroup(lazy={"raising": LazyCommand(__name__, "Ends as it is told.")}, name="test")
    result = CliRunner().invoke(group, ["raising", outcome])
    assert (result.exit_code, result.stderr) == (code, says)


def test_ctrl_c_ends_with_130() -> None:
    code = (
        "import os, signal, click\n"
        "from salvo.cli import lazy, models\n"
        "group = lazy.LazyGroup(lazy={'models': lazy.LazyCommand('salvo.cli.models', '')})\n"
        f"models.models.callback = lambda **_: os.kill(os.getpid(), {signal.SIGINT.value})\n"
        "group(['models'])"
    )
    ended = run("python", "-c", code)
    assert (ended.returncode, ended.stderr) == (130, "Interrupted.\n")
