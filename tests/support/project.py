"""A user's project in a temporary folder, and the command line in it."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

from salvo.cli.salvo import salvo
from tests.support.provider import LoopbackProvider
from tests.support.wires import environment

BIN = Path(sys.executable).parent

BOOK_FLIGHT = """
scenario: book_flight
adapter: openai
model: gpt-4o
runs: 10
timeout: 30
threshold: 0.8

system_prompt: |
  You are a travel assistant with access to flight search
  and booking tools.

user_message: |
  Book the cheapest round-trip flight from SFO to JFK
  on March 15, returning March 20.

tools:
  - search_flights
  - book_flight
  - get_booking_confirmation

assertions:
  - type: tool_sequence
    expected: [search_flights, book_flight, get_booking_confirmation]
    required: true
    weight: 2

  - type: jmespath
    path: final_output.confirmation_id
    operator: regex
    value: "^[A-Z]{6}$"
    weight: 1

  - type: cost_limit
    max_usd: 0.05
    weight: 1

  - type: latency_limit
    max_seconds: 15
    weight: 1
"""
"""The document's own example, to the letter."""

TOOLS = '''
def search_flights(origin: str, destination: str) -> list[dict]:
    """Finds flights."""
    return [{"id": "B6-0916", "price": 212}, {"id": "UA-1537", "price": 289}]


def book_flight(flight_id: str) -> dict:
    """Books a flight."""
    return {"booking_id": "BK-1"}


async def get_booking_confirmation(booking_id: str) -> dict:
    """Confirms a booking."""
    return {"confirmation_id": "QWERTZ"}
'''


@dataclass
class UserProject:
    """`salvo(...)` runs the command in this process, `process(...)` in one of its own."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    environ: dict[str, str] = field(default_factory=dict)

    def write(self, name: str, content: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(content).lstrip("\n"), encoding="utf-8")
        return file

    def reach(self, provider: LoopbackProvider) -> None:
        self.environ = environment(provider)

    def salvo(self, *arguments: str, keys: str | None = None) -> Result:
        """`keys` are those that the user presses."""
        self.monkeypatch.chdir(self.folder)
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
            self.monkeypatch.delenv(name, raising=False)
        for name, value in self.environ.items():
            self.monkeypatch.setenv(name, value)
        return CliRunner().invoke(salvo, list(arguments), input=keys, catch_exceptions=False)

    def process(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [str(BIN / "salvo"), *arguments],
            cwd=self.folder,
            env={**os.environ, **self.environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def store(self) -> Path:
        return self.folder / ".salvo"

    def runs(self) -> list[Path]:
        return sorted((self.store / "runs").glob("*.json"))

    def everything_stored(self) -> str:
        return "\n".join(file.read_text(errors="replace") for file in self.store.rglob("*") if file.is_file())
