"""Blocking code beside the event loop: its value, its faults, and that nobody has to wait for it."""

import asyncio
import inspect
import subprocess
import sys
import threading
from contextvars import ContextVar
from typing import Any

import pytest

from salvo.engine.runtime.pool import gather
from salvo.engine.runtime.threads import in_thread

NAME: ContextVar[str] = ContextVar("NAME", default="nobody")


async def test_a_function_gives_its_value_and_sees_the_context_it_was_called_in() -> None:
    NAME.set("run 7")
    here = threading.current_thread().name
    value, name, there = await in_thread(lambda number: (number + 1, NAME.get(), threading.current_thread().name), 41)
    assert (value, name) == (42, "run 7")
    assert there != here


@pytest.mark.parametrize(
    "fault, told",
    [
        (KeyError("missing"), "'missing'"),
        (StopIteration("over"), "StopIteration: over"),
        (SystemExit(7), "SystemExit: 7"),
        (KeyboardInterrupt(), "KeyboardInterrupt: "),
    ],
)
async def test_what_a_function_raises_arrives_as_an_error_that_an_event_loop_can_carry(
    fault: BaseException, told: str
) -> None:
    def broken() -> None:
        raise fault

    with pytest.raises((KeyError, RuntimeError)) as error:
        await in_thread(broken)
    assert str(error.value) == told


async def test_many_wait_at_once_without_a_queue() -> None:
    everyone = threading.Barrier(50)
    assert len(set(await gather(in_thread(everyone.wait, 20) for _ in range(50)))) == 50


async def test_giving_up_does_not_wait_for_the_thread_and_its_late_value_is_dropped() -> None:
    release, ended = threading.Event(), threading.Event()

    def slow() -> None:
        release.wait(20)
        ended.set()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await in_thread(slow)
    release.set()
    assert await in_thread(ended.wait, 20)


def test_a_program_ends_although_a_thread_hangs() -> None:
    code = (
        "import asyncio, time\n"
        "from salvo.engine.runtime.threads import in_thread\n"
        "async def main():\n"
        "    try:\n"
        "        async with asyncio.timeout(0.1): await in_thread(time.sleep, 1000)\n"
        "    except TimeoutError: print('gave up')\n"
        "asyncio.run(main())"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert ended.stdout == "gave up\n"


async def test_a_coroutine_that_comes_too_late_is_closed_and_not_complained_of() -> None:
    go_on, made = threading.Event(), threading.Event()

    async def late() -> None:
        pass

    coroutine = late()

    def slow() -> object:
        go_on.wait()
        made.set()
        return coroutine

    waiting = asyncio.create_task(in_thread(slow))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go_on.set()
    while inspect.getcoroutinestate(coroutine) != inspect.CORO_CLOSED:  # noqa: ASYNC110 - nothing tells when it is
        await asyncio.sleep(0)
    assert made.is_set()


async def test_a_coroutine_that_arrives_in_the_moment_of_giving_up_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    loop, sent = asyncio.get_running_loop(), threading.Event()
    schedule = loop.call_soon_threadsafe

    def schedule_and_tell(*arguments: Any) -> asyncio.Handle:
        handle = schedule(*arguments)
        sent.set()
        return handle

    monkeypatch.setattr(loop, "call_soon_threadsafe", schedule_and_tell)

    async def late() -> None: ...

    def make() -> object:
        made.append(late())
        return made[0]

    task = asyncio.create_task(in_thread(make))
    await asyncio.sleep(0)
    assert sent.wait(20)  # blocks the loop: the value is on its way, and the loop has not seen it yet
    loop.call_soon(task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert inspect.getcoroutinestate(made[0]) == inspect.CORO_CLOSED


async def test_calls_one_after_the_other_share_a_thread() -> None:
    assert len({await in_thread(threading.get_ident) for _ in range(100)}) == 1


async def test_a_thread_that_hangs_is_replaced() -> None:
    release, busy = threading.Event(), []

    def hang() -> None:
        busy.append(threading.get_ident())
        release.wait(20)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await in_thread(hang)
    try:
        assert await in_thread(threading.get_ident) not in busy
    finally:
        release.set()


def die_at_start(how_many: int) -> subprocess.CompletedProcess[str]:
    """Run a call where the first threads die while their trace function is installed, as they can under coverage."""
    code = (
        "import asyncio, sys, threading\n"
        "from salvo.engine.runtime.threads import in_thread\n"
        f"left = {how_many}\n"
        "def refuse(event, arguments):\n"
        "    global left\n"
        "    if event == 'sys.settrace' and threading.current_thread() is not threading.main_thread() and left:\n"
        "        left -= 1\n"
        "        raise RuntimeError('Cannot install a trace function')\n"
        "sys.unraisablehook = lambda _: None\n"
        "sys.addaudithook(refuse)\n"
        "threading.settrace(lambda *_: None)\n"
        "async def main():\n"
        "    async with asyncio.timeout(20): print(await in_thread(lambda: 'done'))\n"
        "asyncio.run(main())"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)


def test_a_call_is_made_although_threads_die_before_they_begin() -> None:
    assert die_at_start(3).stdout == "done\n"


def test_a_call_says_so_where_no_thread_can_be_started() -> None:
    ended = die_at_start(1000)
    assert ended.stdout == ""
    assert ended.stderr.splitlines()[-1] == (
        "RuntimeError: No thread could be started: 20 in a row died before they ran anything."
    )
