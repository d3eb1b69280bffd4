"""Signs of life while a slow model has not answered."""

import os
import sys

import pytest

from salvo.cli.byop.evaluation_display import EvaluationDisplay
from salvo.cli.console import ProgressLine
from salvo.engine.wire.base import WireRequest
from salvo.engine.wire.retry import Wait
from salvo.playbooks.evaluate.runner import EvaluationProgress, OpenCalls
from tests.support.byop_project import ByopProject, ScriptedJudge, wait_until
from tests.support.clock import HeldClock
from tests.support.provider import LoopbackProvider

START = EvaluationProgress("Running check 1/6, run 1/3", 0, 12)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
def test_the_terminal_shows_how_long_the_oldest_call_has_been_waiting(project: ByopProject) -> None:
    screen, stderr = os.openpty()
    with LoopbackProvider(ScriptedJudge()) as provider:
        provider.hold()
        project.reach(provider)
        process = project.process("run", "output.md", "--no-store", "--evaluator", "openai/my-model", stderr=stderr)
        os.close(stderr)
        shown = b""

        def is_alive() -> bool:
            nonlocal shown
            shown += os.read(screen, 4096)
            return b"(waiting for 12 calls, the oldest for " in shown

        wait_until(is_alive)
        provider.let_go()
        process.communicate(timeout=30)
    os.close(screen)
    assert process.returncode == 0


def test_without_a_terminal_a_line_a_minute_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    clock = HeldClock()
    display = EvaluationDisplay(ProgressLine(), clock)
    listeners = [display.listener("one: "), display.listener("two: ")]
    for number, listen in enumerate(listeners, start=1):
        listen(START)
        listen(OpenCalls(number, clock.monotonic()))
        clock.advance(10)
    for _ in range(130):
        clock.advance(1)
        display.refresh()
    listeners[0](OpenCalls(0, clock.monotonic()))
    display.refresh()
    listeners[1](OpenCalls(0, clock.monotonic()))
    clock.advance(600)
    display.refresh()
    assert capsys.readouterr().err.splitlines() == [
        f"one: {START.progress}",
        f"two: {START.progress}",
        f"one: {START.progress} (waiting for 1 call, the oldest for 60 s)",
        f"one: {START.progress} (waiting for 1 call, the oldest for 120 s)",
        f"two: {START.progress} (waiting for 2 calls, the oldest for 140 s)",
    ]


def test_an_announced_retry_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    clock = HeldClock()
    display = EvaluationDisplay(ProgressLine(), clock)
    listen = display.listener("")
    listen(START)
    listen(OpenCalls(1, clock.monotonic()))
    clock.advance(58)
    listen(Wait(WireRequest("openai", "/"), 1, 429, "status 429", 4))
    for _ in range(6):
        display.refresh()
        clock.advance(1)
    assert capsys.readouterr().err.splitlines() == [
        START.progress,
        f"{START.progress} (rate limited, retrying in 4 s)",
        f"{START.progress} (waiting for 1 call, the oldest for 62 s)",
    ]
