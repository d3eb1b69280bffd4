"""A folder with a text to evaluate, the `byop` command in it, and a judge that votes as the test says."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from salvo.cli.byop import byop
from salvo.engine.runtime.clock import SystemClock
from tests.support.provider import Answer, LoopbackProvider, ProviderRequest, Say
from tests.support.provider.request import text_of
from tests.support.wires import environment

BIN = Path(sys.executable).parent

ASSUMED = "We assume that German law governs the agreement and that the customer is the controller."
CERTAIN = "Clause 7 is fully compliant with the GDPR."
ESCALATED = "Data protection counsel should review the cap in clause 9 before signature, because it may not hold."
UNCHECKED = "We did not check annex 2, which was not provided to us."
TEXT = f"""\
Review of the data processing agreement

{ASSUMED}

{CERTAIN} Liability is capped at the fees of twelve months, which is common in the market but may be too low here.

{ESCALATED} {UNCHECKED}
"""
QUOTES = {
    "assumption_disclosure": ASSUMED,
    "certainty_language": CERTAIN,
    "escalation_signal": ESCALATED,
    "unchecked_areas_disclosure": UNCHECKED,
}
JUDGED = tuple(QUOTES)
CLAUDE, GPT = "anthropic/claude-sonnet-4-6", "openai/gpt-5.4-mini"

_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "DATABASE_URL")


@dataclass
class ByopProject:
    """`byop(...)` runs the command in this process, `process(...)` in another one. No key is set; waits take no time."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    environ: dict[str, str] = field(default_factory=dict)
    waited: list[float] = field(default_factory=list)
    """The waits between attempts that were skipped, in seconds."""

    def __post_init__(self) -> None:
        async def sleep(_clock: SystemClock, seconds: float) -> None:
            self.waited.append(seconds)

        self.monkeypatch.setattr(SystemClock, "sleep", sleep)
        self.monkeypatch.chdir(self.folder)
        self.write("output.md", TEXT)

    def write(self, name: str, content: str | bytes) -> Path:
        file = self.folder / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def write_playbook(self, document: Mapping[str, Any], name: str = "own.json") -> str:
        return str(self.write(name, json.dumps(document)))

    def reach(self, provider: LoopbackProvider) -> None:
        self.environ |= environment(provider)

    def byop(self, *arguments: str, stdin: str | bytes | None = None) -> Result:
        for name in _KEYS:
            self.monkeypatch.delenv(name, raising=False)
        for name, value in {"COLUMNS": "100", **self.environ}.items():
            self.monkeypatch.setenv(name, value)
        return CliRunner().invoke(byop, list(arguments), input=stdin, catch_exceptions=False)

    def evaluate(self, *arguments: str, exit_code: int | None = None) -> dict[str, Any]:
        """Run `byop run output.md --json …` and return the report. A first argument that is no option replaces `output.md`."""
        command = arguments if arguments and not arguments[0].startswith("-") else ("output.md", *arguments)
        result = self.byop("run", *command, "--json")
        assert result.exit_code in ((0, 1, 3) if exit_code is None else (exit_code,)), result.output
        report: dict[str, Any] = json.loads(result.stdout)["byop_report"]
        return report

    def process(self, *arguments: str, stderr: int = subprocess.PIPE) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [str(BIN / "byop"), *arguments],
            cwd=self.folder,
            env={**{name: value for name, value in os.environ.items() if name not in _KEYS}, **self.environ},
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )

    @property
    def database(self) -> Path:
        return self.folder / "byop_runs.db"

    def stored(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of an SQL query, also while another process writes."""
        with closing(sqlite3.connect(self.database, timeout=10)) as database:
            return database.execute(query).fetchall()

    def alter(self, statement: str) -> None:
        with closing(sqlite3.connect(self.database)) as database, database:
            database.execute(statement)

    def everything_stored(self) -> bytes:
        return b"".join(file.read_bytes() for file in sorted(self.folder.glob("byop_runs.db*")))

    def latest(self) -> str:
        rows = json.loads(self.byop("history", "--json").stdout)
        return str(rows[0]["id"])


def verdict(result: str, *quotes: str, confidence: float = 0.9, notes: str = "", context: str = "") -> str:
    """Return a judge's answer in the required format."""
    answer = {
        "result": result,
        "confidence": confidence,
        "evidence_citations": [{"span": quote, "context": context} for quote in quotes],
        "notes": notes or f"The passage shows a {result}.",
    }
    return json.dumps(answer)


@dataclass(frozen=True)
class UnusableAnswer:
    """An answer that cannot be parsed, and the answer to the second request. Its text identifies it."""

    text: str
    then: Answer | None = None


ScriptedVote = str | Answer | UnusableAnswer
"""A result, which is given with the quote of the check, or a complete answer."""


class ScriptedJudge:
    """Gives each check its answers in the order in which requests arrive; the last answer repeats.

    The requests for the runs of a check are identical; with `-j 1` they arrive in the order of the runs. A check
    without answers passes.
    """

    def __init__(
        self,
        told: Mapping[str, ScriptedVote | Sequence[ScriptedVote]] | None = None,
        **more: ScriptedVote | Sequence[ScriptedVote],
    ) -> None:
        given = {**(told or {}), **more}
        self._answers = {check: _sequence(answers) for check, answers in given.items()}
        self._garbled = {
            each.text: each for all_ in self._answers.values() for each in all_ if isinstance(each, UnusableAnswer)
        }
        self._arrived: dict[str, int] = {}

    def __call__(self, request: ProviderRequest) -> Answer:
        if request.turn:
            before = self._garbled[_last_answer(request)]
            return before.then or Say(before.text)
        check = requested_check(request)
        number = self._arrived.get(check, 0)
        self._arrived[check] = number + 1
        answers = self._answers.get(check, ("pass",))
        told = answers[min(number, len(answers) - 1)]
        if isinstance(told, str):
            return Say(verdict(told, QUOTES[check]) if check in QUOTES else verdict(told))
        return Say(told.text) if isinstance(told, UnusableAnswer) else told


def _sequence(told: ScriptedVote | Sequence[ScriptedVote]) -> Sequence[ScriptedVote]:
    return [told] if isinstance(told, str | UnusableAnswer) or not isinstance(told, Sequence) else told


def requested_check(request: ProviderRequest) -> str:
    """Return the id of the check that a request is about."""
    question = next(text_of(message.get("content")) for message in request.messages if message.get("role") == "user")
    match = re.search(r"^ID: (.+)$", question.rpartition("Check to evaluate [")[2], re.MULTILINE)
    assert match, question[-500:]
    return match.group(1)


def _last_answer(request: ProviderRequest) -> str:
    return [text_of(message.get("content")) for message in request.messages if message.get("role") == "assistant"][-1]


def results(report: Mapping[str, Any]) -> dict[str, str]:
    return {check["check_id"]: check["result"] for check in report["check_results"]}


def check(report: Mapping[str, Any], name: str) -> dict[str, Any]:
    [result] = [result for result in report["check_results"] if result["check_id"] == name]
    return dict(result)


_MASKS = {
    r"\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d:\d\d [A-Z+:\d-]+": "TIME",
    r"sha256:[0-9a-f]{64}": "sha256:…",
    r"\b1[0-9a-hjkmnp-tv-z]{15}\b": "ID",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?": "TIME",
    r"127\.0\.0\.1:\d+": "127.0.0.1:PORT",
    r"rules-[0-9a-f]{12}": "rules-PROMPT",
    r"(?m)^(  (?:Duration|Time in calls) ) .*$": r"\1 …",
}


def masked(text: str) -> str:
    """Replace what differs between runs: hashes, ids, times, the port."""
    for pattern, mask in _MASKS.items():
        text = re.sub(pattern, mask, text)
    return text


def interrupt(child: "subprocess.Popen[str]") -> tuple[str, str]:
    """Send Ctrl-C, and return stdout and stderr."""
    child.send_signal(signal.SIGINT)
    return child.communicate(timeout=30)


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for something that happens in another process."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"the condition did not become true within {seconds} s"
        time.sleep(0.01)
