"""Programs: the process that ends them after a kill is there before they are."""

import subprocess
import sys

import pytest

RUN_PROGRAM = """
from salvo.engine.runtime.subprocesses import run_program

async def main():
    until = asyncio.get_running_loop().create_future()
    await run_program([sys.executable, "-c", ""], folder=Path(), environ={}, stdin=b"", until=until)
"""
START_MCP_SERVER = """
from salvo.engine.mcp.stdio import StdioTarget, StdioTransport

async def main():
    server = await StdioTransport.start("shop", StdioTarget([sys.executable, "-c", "input()"], Path(), {}))
    await server.close()
"""
START_WORKER = """
from salvo.scenarios.run.executors.worker_start import start_worker

async def main():
    start_worker(Path()).kill()
"""
PRINT_STARTS = """
import asyncio, subprocess, sys
from pathlib import Path

class Popen(subprocess.Popen):
    def __init__(self, command, *arguments, **options):
        print("guard" if "program_guard" in " ".join(command) else "program", flush=True)
        super().__init__(command, *arguments, **options)

subprocess.Popen = Popen
"""


@pytest.mark.parametrize("start", [RUN_PROGRAM, START_MCP_SERVER, START_WORKER], ids=["program", "mcp", "worker"])
def test_what_ends_a_program_after_a_kill_is_started_before_it(start: str) -> None:
    code = f"{PRINT_STARTS}\n{start}\nasyncio.run(main())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout.split() == ["guard", "program"], ended.stderr
