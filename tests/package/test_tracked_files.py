"""What is in git was written by people: no environment, build or large binary."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_BYTES = 1_000_000
MADE_BY_TOOLS = ("node_modules", "__pycache__", "site-packages", "dist", "build", "static")


def _tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no git checkout")
    return [Path(name) for name in listed.stdout.split("\0") if name]


def test_git_holds_nothing_that_a_tool_makes() -> None:
    made = [
        file
        for file in _tracked_files()
        if any(part in MADE_BY_TOOLS or part.startswith(".venv") for part in file.parent.parts)
    ]
    assert made == []


def test_git_holds_no_large_file() -> None:
    large = [file for file in _tracked_files() if (ROOT / file).is_file() and (ROOT / file).stat().st_size > MOST_BYTES]
    assert large == []
