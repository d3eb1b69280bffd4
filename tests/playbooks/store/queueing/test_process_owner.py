"""Whether a process still lives."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from salvo.playbooks.store.queueing.process_owner import has_ended, machine, new_owner, this_process


def test_this_process_has_not_ended() -> None:
    assert not has_ended(new_owner())


def test_every_owner_has_a_name_of_its_own() -> None:
    assert len({new_owner() for _ in range(10)}) == 10


def test_a_process_that_ended_is_gone() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert has_ended(f"{machine()}/{ended.pid}/1/1")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not say what a process does")
def test_a_process_that_ended_is_gone_also_if_its_parent_does_not_ask_how() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # as a parent that never waits leaves it
    started = Path(f"/proc/{ended.pid}/stat").read_text().rpartition(")")[2].split()[19]
    assert has_ended(f"{machine()}/{ended.pid}/{started}/1")
    ended.wait()


def test_a_number_that_was_given_to_another_process_does_not_keep_the_first_alive() -> None:
    assert has_ended(f"{this_process()}0/1")


def test_somebody_elses_process_is_here_though_we_may_not_touch_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError

    owner = new_owner()
    monkeypatch.setattr(os, "kill", refuse)
    assert not has_ended(owner)


def test_where_the_system_does_not_say_when_a_process_began_its_number_must_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)
    assert this_process() == f"{machine()}/{os.getpid()}/"
    assert not has_ended(new_owner())


@pytest.mark.parametrize("owner", ["another/1/1/1", f"{platform.node()}+00000000/1/1/1", "not ours", ""])
def test_of_a_process_elsewhere_nothing_is_known(owner: str) -> None:
    """Another container of this machine may have the same name, and other processes with the same numbers."""
    assert not has_ended(owner)


@pytest.mark.parametrize("process", ["x", "0", "99999999999"])
def test_what_cannot_be_the_number_of_a_process_is_none(process: str) -> None:
    assert has_ended(f"{machine()}/{process}/1/1")
