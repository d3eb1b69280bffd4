"""The actor of a Ray cluster, without the cluster: it passes on what a worker process writes, in parts."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from salvo.scenarios.run.executors.messages import Message, WorkerSetup, pack, plain, unpack
from salvo.scenarios.run.executors.ray_worker import PARTS, RayWorker

MOST_INLINE = 100 * 1024
"""Bytes of a value that Ray sends with the answer to a call. What is larger goes through its object stores."""
WRITES = """#!/bin/sh
head -c {size} /dev/zero
"""


async def everything(worker: RayWorker) -> Sequence[Sequence[bytes]]:
    exchanges = [await worker.exchange(b"")]
    while any(exchanges[-1]):
        exchanges.append(await worker.exchange(b""))
    return exchanges


@pytest.mark.parametrize("size", [1, 150_000, 380_000])
async def test_what_a_worker_writes_comes_in_parts_that_are_sent_inline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    exchanges = await exchanges_of(tmp_path, monkeypatch, size)
    assert b"".join(part for parts in exchanges for part in parts) == bytes(size)
    assert {len(parts) for parts in exchanges} == {PARTS}
    assert max(len(part) for parts in exchanges for part in parts) < MOST_INLINE


async def test_what_is_too_large_for_that_comes_in_one_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exchanges = await exchanges_of(tmp_path, monkeypatch, 5_000_000)
    assert b"".join(part for parts in exchanges for part in parts) == bytes(5_000_000)
    too_large = [parts for parts in exchanges if max(map(len, parts)) >= MOST_INLINE]
    assert too_large
    assert all(parts[1:] == [b""] * (PARTS - 1) for parts in too_large)


async def exchanges_of(folder: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> Sequence[Sequence[bytes]]:
    """Return what comes from a worker that writes so many bytes and ends."""
    program = folder / "python"
    program.write_text(WRITES.format(size=size))
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))
    monkeypatch.chdir(folder)
    worker = RayWorker()
    await worker.start(b"")
    try:
        return await everything(worker)
    finally:
        assert "ended with status 0" in await worker.end()


async def test_the_messages_of_a_worker_are_those_of_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    worker = RayWorker()
    await worker.start(pack([Message("setup", plain(WorkerSetup(salvo_version="0", root="", cwd=".", batches=[])))]))
    content = b"".join(part for parts in await everything(worker) for part in parts)
    how = await worker.end()
    [message], rest = unpack(content)
    assert (message.kind, rest) == ("failed", b"")
    assert "Install the same version everywhere." in message.fields["hint"]
    assert f"on {os.uname().nodename}" in how
