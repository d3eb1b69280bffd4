"""Cold start of the commands beside bare Python."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench import table

ROUNDS = 15
BIN = Path(sys.executable).parent
BARE = "python -c pass"
COMMANDS = {
    BARE: [sys.executable, "-c", "pass"],
    "salvo --version": [str(BIN / "salvo"), "--version"],
    "salvo --help": [str(BIN / "salvo"), "--help"],
    "salvo run --help": [str(BIN / "salvo"), "run", "--help"],
    "byop --help": [str(BIN / "byop"), "--help"],
}


def report() -> None:
    table.heading(f"Cold start, median of {ROUNDS}")
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - started)
    for name, measured in seconds.items():
        table.line(name, {"wall": statistics.median(measured) * 1000}, "ms")
    for name in list(COMMANDS)[1:]:
        table.promise(f"{name} to bare Python", table.ratio(seconds[name], seconds[BARE]), 5)
