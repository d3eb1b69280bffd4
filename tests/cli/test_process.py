"""How a command ends: nothing that was said, or left to be done at the end, is lost; and nobody waits for the rest."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LEFT_FOR_THE_END = """
import atexit, os, threading
from salvo.cli.salvo import schema

class Kept:
    def __del__(self, write=os.write):
        write(1, b"taken apart\\n")

def work():
    threading.main_thread().join()
    print("the thread is done")

def answer_and_leave(**asked):
    global kept
    kept = Kept()
    atexit.register(print, "at the end", flush=True)
    threading.Thread(target=work).start()
    answer(**asked)

answer, schema.schema.callback = schema.schema.callback, answer_and_leave
"""


def ended(before: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process that does this before it is the command; and that nobody measures."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    code = f"{before}\nfrom salvo.cli.process import salvo\nsalvo()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environ, check=False
    )


def test_what_others_left_for_the_end_is_done_and_nothing_is_taken_apart() -> None:
    process = ended(LEFT_FOR_THE_END, "schema")
    assert process.returncode == 0
    answer, brace, rest = process.stdout.rpartition("}\n")
    assert json.loads(answer + brace)["title"] == "Salvo scenario"
    assert rest.splitlines() == ["the thread is done", "at the end"]
    assert process.stderr == ""


def test_who_watches_the_process_sees_the_whole_of_its_end() -> None:
    process = ended(f"import sys\nsys.settrace(lambda *_: None)\n{LEFT_FOR_THE_END}", "schema")
    assert process.stdout.splitlines()[-3:] == ["the thread is done", "at the end", "taken apart"]


@pytest.mark.parametrize(
    "arguments, status", [(["--version"], 0), (["schema"], 0), (["validate", "nowhere.yaml"], 2), (["nothing"], 2)]
)
def test_the_status_is_the_commands(arguments: list[str], status: int) -> None:
    assert ended("", *arguments).returncode == status


def test_a_bug_is_a_traceback_and_status_1() -> None:
    broken = "from salvo.cli.salvo import schema\nschema.schema.callback = lambda *_, **__: 1 / 0"
    process = ended(broken, "schema")
    assert process.returncode == 1
    assert process.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_an_answer_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with full.open("w") as nowhere:
        process = subprocess.run(
            [str(Path(sys.executable).parent / "salvo"), "schema"],
            stdout=nowhere,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            check=False,
        )
    assert process.returncode != 0
    assert "No space left on device" in process.stderr
