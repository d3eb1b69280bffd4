"""The sessions in the documents, typed again: the commands as they stand, and what they print beside what is shown."""

import gc
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from urllib.parse import urljoin

import click
from click.testing import CliRunner

from salvo.cli.byop import byop
from salvo.cli.salvo import salvo
from tests.docs.documents import ROOT, Block
from tests.support.provider import LoopbackProvider
from tests.support.web import session_cookie
from tests.support.wires import environment

BIN = Path(sys.executable).parent
PROGRAMS: Mapping[str, click.Command] = {"salvo": salvo, "byop": byop}
SERVERS = ("byop serve", "salvo dashboard")
ELSEWHERE = ("python3 -m venv .venv", ". .venv/bin/activate", "pip install ", "make ")
"""Installing is tried in tests/package, in an empty environment; make's targets have their own tests."""

_SECRET = re.compile(r"(_API_KEY|_BASE_URL)$|^DATABASE_URL$|^SALVO_|^PYTEST_|^COV")
_ID = re.compile(r"\b1[0-9a-hjkmnp-tv-z]{15}(?:-\d{4})?\b")
_VARYING = {
    r"sha256:[0-9a-f]{8,64}": "HASH",
    r"\b[0-9a-f]{64}\b": "HASH",
    r"\d{4}-\d\d-\d\d(T| )\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00|Z)?": "TIME",
    r"\b\d+(\.\d+)? ?(ms|s)\b": "DURATION",
    r"127\.0\.0\.1:\d+": "127.0.0.1:PORT",
    r"salvo-byop/\S+": "salvo-byop/VERSION",
    r"rules-[0-9a-f]{12}": "rules-PROMPT",
    r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}=": "KEY",
    r"(latency\b.*)": "latency DURATION",
    r" +$": "",
}


@dataclass(frozen=True)
class Typed:
    """A command, and what the document shows below it: None where it shows nothing."""

    command: str
    shown: str | None
    line: int


def typed(block: Block) -> list[Typed]:
    found: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(block.content.splitlines(), block.line + 1):
        if line.startswith("$ "):
            found.append((number, line[2:], []))
        elif found and found[-1][1].endswith("\\"):
            first, command, output = found.pop()
            found.append((first, command[:-1] + line.strip(), output))
        else:
            assert found, f"line {number}: output without a command"
            found[-1][2].append(line)
    return [Typed(command, "\n".join(output).rstrip() or None, number) for number, command, output in found]


@dataclass
class Shell:
    """What stands between a document and its programs: a folder like a checkout, no key, the ids of this time."""

    folder: Path
    provider: LoopbackProvider
    environ: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    """An id that the document shows, and the one that came in its place."""

    def __post_init__(self) -> None:
        shutil.copytree(ROOT / "examples", self.folder / "examples", ignore=shutil.ignore_patterns(".salvo", "*.db"))
        (self.folder / "pyproject.toml").touch()  # what makes it a project's root; our own pytest settings stay out
        # Of a person at a terminal: under CI, pytest prints its summary at other lengths.
        kept = {name: value for name, value in os.environ.items() if name != "CI" and not _SECRET.search(name)}
        self.environ = {
            **kept,
            "HOME": str(self.folder),
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "COLUMNS": "80",
            "NO_COLOR": "1",
            # A reader's pytest has our plugin, and not all those that our own tests have installed.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_PLUGINS": "salvo.pytest_plugin",
        }

    def write(self, name: str, content: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")

    def remember(self, shown: str, printed: str) -> None:
        for named, own in zip(_ID.findall(shown), _ID.findall(printed), strict=False):
            self.ids[named] = own
            self.ids[named.partition("-")[0]] = own.partition("-")[0]

    def as_shown(self, printed: str) -> str:
        """With the ids that the document has for them already."""
        shown = {own: named for named, own in self.ids.items()}
        return _ID.sub(lambda found: shown.get(found.group(), found.group()), printed)

    def _own_id(self, documented: str) -> str:
        """A run that the document names for the first time has the number it says, in the batch of this time."""
        batch, _, number = documented.partition("-")
        if documented not in self.ids and number and batch in self.ids:
            return f"{self.ids[batch]}-{number}"
        return self.ids.get(documented, documented)

    def run(self, command: str) -> tuple[int, str]:
        """Its exit code, and what a person sees last: its output, or else its complaints."""
        command = _ID.sub(lambda match: self._own_id(match.group()), command)
        if command.startswith(ELSEWHERE):
            return 0, ""
        if command.startswith(SERVERS):
            return self._serve(command)
        name, _, rest = command.partition(" ")
        if name == "cd":
            self.folder = (self.folder / rest).resolve(strict=True)
            return 0, ""
        if name == "export":
            return self._export(rest)
        if name in PROGRAMS and "$(" not in command:
            return self._program(name, shlex.split(rest))
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environ, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout or done.stderr

    def _program(self, name: str, arguments: list[str]) -> tuple[int, str]:
        target = arguments[-1] if arguments[-2:-1] == [">"] else None
        before, folder = dict(os.environ), Path.cwd()
        os.environ.clear()
        os.environ.update(self.environ)
        os.chdir(self.folder)
        try:
            done = CliRunner().invoke(
                PROGRAMS[name], arguments[:-2] if target else arguments, prog_name=name, catch_exceptions=False
            )
        finally:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(before)
            gc.unfreeze()  # a command leaves its garbage to the end of its process, which here goes on
            gc.enable()
            for module in [name for name in sys.modules if name.startswith("_salvo_scope_")]:
                del sys.modules[module]  # a new process would read the user's files anew
        if target:
            self.write(target, done.stdout)
            return done.exit_code, ""
        return done.exit_code, done.stdout or done.stderr

    def _export(self, assignment: str) -> tuple[int, str]:
        """A key makes its provider reachable, on loopback."""
        name, _, value = assignment.partition("=")
        self.environ[name] = value
        if name.endswith("_API_KEY"):
            address = name.replace("_API_KEY", "_BASE_URL")
            self.environ[address] = environment(self.provider)[address]
        return 0, ""

    def _serve(self, command: str) -> tuple[int, str]:
        """Started on a free port, asked once, and stopped as by Ctrl-C."""
        with subprocess.Popen(
            [*shlex.split(command), "--port", "0", "--no-open"],
            cwd=self.folder,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                assert process.stdout is not None
                address = process.stdout.readline().strip()
                cookie = "=".join(session_cookie(address))
                asked = urllib.request.Request(urljoin(address, "/api/about"), headers={"cookie": cookie})  # noqa: S310 - as below
                with urllib.request.urlopen(asked, timeout=20) as answer:  # noqa: S310 - our own server, on loopback
                    assert answer.status == 200
                process.send_signal(signal.SIGINT)
                return process.wait(timeout=20), address
            finally:
                process.kill()


def differences(shell: Shell, shown: str, printed: str) -> str:
    """Empty where the document shows what was printed. A line "…" stands for any number of lines, and a "…" at the
    end of a line for the rest of it."""
    wanted, got = _normal(shown).splitlines(), _normal(printed.rstrip()).splitlines()
    if not _fits(wanted, got):
        return f"shown:\n{shown}\n\nprinted:\n{printed}"
    shell.remember(shown, printed)
    return ""


def _fits(wanted: list[str], got: list[str]) -> bool:
    if not wanted:
        return not got
    if wanted[0] == "…":
        return any(_fits(wanted[1:], got[skipped:]) for skipped in range(len(got) + 1))
    if not got:
        return False
    alike = got[0].startswith(wanted[0].removesuffix("…")) if wanted[0].endswith("…") else wanted[0] == got[0]
    return alike and _fits(wanted[1:], got[1:])


def _normal(text: str) -> str:
    text = _ID.sub(lambda found: f"ID{found.group()[16:]}", text)  # the number of a run is no accident
    for pattern, mask in _VARYING.items():
        text = re.sub(pattern, mask, text, flags=re.MULTILINE)
    return text


def with_outputs(text: str, printed: Mapping[int, str]) -> str:
    """The document with what was printed in the place of what it shows, by the line of each command."""
    lines = text.splitlines()
    starts = sorted(printed)
    for line in reversed(starts):
        end = line
        while not lines[end].startswith(("$ ", "```")):
            end += 1
        lines[line:end] = printed[line].rstrip().splitlines()
    return "\n".join(lines) + "\n"


def exit_codes(block: Block) -> Iterator[tuple[Typed, int]]:
    """Each command and how it must end: well, except for the last one of a block that says `exit=1`."""
    commands = typed(block)
    said = re.search(r"exit=(\d+)", block.more)
    last = int(said.group(1)) if said else 0
    yield from ((command, 0) for command, _ in pairwise(commands))
    yield commands[-1], last
