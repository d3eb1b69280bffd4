"""How a command ends, as a process: its output is complete, and its exit code is the command's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run_after(setup: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `salvo` in a process that executes `setup` first."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    code = f"{setup}\nfrom salvo.cli.salvo import salvo\nsalvo()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environ, check=False
    )


@pytest.mark.parametrize(
    "arguments, status", [(["--version"], 0), (["schema"], 0), (["validate", "nowhere.yaml"], 2), (["nothing"], 2)]
)
def test_the_status_is_the_commands(arguments: list[str], status: int) -> None:
    assert run_after("", *arguments).returncode == status


def test_a_bug_is_a_traceback_and_status_1() -> None:
    broken = "from salvo.cli.salvo import schema\nschema.schema.callback = lambda *_, **__: 1 / 0"
    process = run_after(broken, "schema")
    assert process.returncode == 1
    assert process.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_output_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("w") as output:
        process = subprocess.run(
            [str(Path(sys.executable).parent / "salvo"), "schema"],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            check=False,
        )
    assert process.returncode != 0
    assert "No space left on device" in process.stderr
