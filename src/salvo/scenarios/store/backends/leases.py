"""Leases on the runs of a batch, in the store: two processes never make the same run, on one machine or on many.

    sessions/{id}.json        who works: written again every ten seconds, the beat, and deleted at the end
    leases/{batch_id}.json    which numbers of the batch belong to which session, changed by compare-and-swap only

A session whose last beat is older than EXPIRY is expired, as is one without an object, and one of this machine whose
process has ended. What it had belongs to the next that asks. Times are compared by the clock of the storage, never by
those of the machines. A session that could not beat for LOST_AFTER stops itself, a good while before the others
consider it expired. It knows that by its own clock, of which only the rate must be right.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import Clock
from salvo.engine.text.formatting import format_time
from salvo.errors import StoreError
from salvo.records import record
from salvo.scenarios.store.backends.base import Storage
from salvo.scenarios.store.backends.local_process import has_process_ended, pid_namespace
from salvo.scenarios.store.backends.number_ranges import ALL_RUNS, NumberRange, join_ranges, subtract_ranges
from salvo.scenarios.store.stored_file import parse_stored

BEAT = 10.0
"""Seconds between two beats."""
LOST_AFTER = 40.0
"""Seconds without a beat after which a session starts nothing more."""
EXPIRY = 60.0
"""Seconds without a beat after which others may take over. Object stores give times in whole seconds."""
_MOST_TRIES = 100


@record
class LeaseHolder:
    """A session as its object describes it."""

    id: str
    pid: int
    host: str
    since: str
    beat: int = 0
    pid_namespace: str = ""
    """Where the process id is valid; empty if that is not known."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {format_time(self.since)}"


@record
class LeaseRegister:
    """Which session has which numbers of a batch."""

    claims: dict[str, list[NumberRange]]


class Leases:
    """What one process has claimed. As a context manager it beats in a thread, and releases everything at the end."""

    def __init__(self, storage: Storage, clock: Clock, since: str = "") -> None:
        self.id = clock.new_id()
        self._storage = storage
        self._clock = clock
        self._since = since or clock.now().isoformat()
        self._beats = 0
        self._last_beat: tuple[float, datetime] | None = None
        """When the last beat that succeeded was begun, by both clocks of this process."""
        self._last_written = 0.0
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._pid_namespace = pid_namespace()
        self._holders: dict[str, LeaseHolder] = {}
        """Other sessions, once they were read: only their beats change."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def start(self) -> None:
        """Begin to beat, in a thread."""
        self.beat()
        self._thread = threading.Thread(target=self._keep_beating, name="salvo-leases", daemon=True)
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release everything: without its object, a session has nothing."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        self._last_beat = None
        with suppress(StoreError):  # then it expires
            self._storage.delete(self._key(self.id))

    def beat(self) -> None:
        """Show that this process is alive. Raise StoreError if that cannot be stored."""
        with self._lock:
            start = self._clock.monotonic(), self._clock.now()
            if self._last_beat is not None and not self._is_recent(self._last_beat):
                raise self._lost()  # others may have taken over: an object that is back would claim it again
            self._beats += 1
            process = os.getpid(), platform.node(), self._since, self._beats, self._pid_namespace
            holder = LeaseHolder(self.id, *process)
            self._storage.put(self._key(self.id), json_codec.dumps(holder))
            self._last_beat = start
            self._last_written = self._clock.monotonic()

    def holds(self) -> bool:
        """Return whether what was claimed is still this process's. If not, it must start no more runs."""
        return self._last_beat is not None and self._is_recent(self._last_beat)

    def claim(self, batch_id: str, numbers: Iterable[int]) -> list[int]:
        """Claim runs of a batch, and return those that no other session has. They are this session's from now on.

        Which of them are stored already must be looked at afterwards: before, another process may still store one.
        """
        granted = self.claim_ranges(batch_id, join_ranges(numbers))
        return [number for item in granted for number in range(item.first, item.last + 1)]

    def unclaimed(self, batch_id: str, numbers: Iterable[int]) -> list[int]:
        """Return those of these runs that no other session has at this moment. They are not claimed."""
        free = join_ranges(numbers)
        for holder, ranges in self._living(self._register(batch_id)[0]).items():
            if holder != self.id:
                free = subtract_ranges(free, ranges)
        return [number for item in free for number in range(item.first, item.last + 1)]

    def claim_ranges(self, batch_id: str, requested: list[NumberRange]) -> list[NumberRange]:
        """Claim ranges of runs as `claim` does."""
        for _ in range(_MOST_TRIES):
            if not self.holds():
                raise self._lost()
            register, version = self._register(batch_id)
            living = self._living(register)
            granted = requested
            for holder, ranges in living.items():
                if holder != self.id:
                    granted = subtract_ranges(granted, ranges)
            mine = join_ranges([*living.get(self.id, []), *granted])
            if self._write(batch_id, living, mine, version):
                return granted
        raise StoreError(f"The leases of the batch {batch_id} change too often to claim any.", hint="Try again later.")

    def release(self, batch_id: str, numbers: Iterable[int] | None = None) -> None:
        """Give up runs of a batch; None means all that this session has of it."""
        unwanted = list(ALL_RUNS) if numbers is None else join_ranges(numbers)
        for _ in range(_MOST_TRIES):
            register, version = self._register(batch_id)
            if self.id not in register.claims:
                return
            remaining = subtract_ranges(register.claims[self.id], unwanted)
            if self._write(batch_id, register.claims, remaining, version):
                return

    def held_by_others(self, batch_id: str) -> list[tuple[LeaseHolder | None, list[NumberRange]]]:
        """Return what other sessions have of a batch. Of a session that ended just now it is not known which it was."""
        living = self._living(self._register(batch_id)[0])
        return [(self._holder(holder), ranges) for holder, ranges in living.items() if holder != self.id]

    def _write(
        self, batch_id: str, claims: Mapping[str, list[NumberRange]], mine: list[NumberRange], version: str | None
    ) -> bool:
        register = LeaseRegister({**claims, self.id: mine})
        if not mine:
            del register.claims[self.id]
        return self._storage.replace(f"leases/{batch_id}.json", json_codec.dumps(register), version)

    def _register(self, batch_id: str) -> tuple[LeaseRegister, str | None]:
        key = f"leases/{batch_id}.json"
        stored = self._storage.get_versioned(key)
        if stored is None:
            return LeaseRegister({}), None
        return parse_stored(stored[0], LeaseRegister, self._storage.describe(key)), stored[1]

    def living(self, session_ids: Iterable[str]) -> set[str]:
        """Return those of these sessions that are not expired, and this one."""
        others = {*session_ids} - {self.id}
        if not others:
            return {self.id}
        beats = {item.name.removesuffix(".json"): item.modified for item in self._storage.list("sessions")}
        if self.id not in beats:
            raise self._lost()
        # At least this late, by the clock of the storage.
        now = beats[self.id] + timedelta(seconds=self._clock.monotonic() - self._last_written)
        limit = now - timedelta(seconds=EXPIRY)
        recent = {holder for holder in others if holder in beats and beats[holder] >= limit}
        return {self.id, *(holder for holder in recent if not self._has_ended(holder))}

    def _living(self, register: LeaseRegister) -> dict[str, list[NumberRange]]:
        """Return the claims of sessions that are not expired."""
        living = self.living(register.claims)
        return {holder: ranges for holder, ranges in register.claims.items() if holder in living}

    def _has_ended(self, session_id: str) -> bool:
        """Return whether the process of another session is known to have ended: a process of this machine."""
        holder = self._holder(session_id)
        return holder is not None and has_process_ended(holder.pid, holder.pid_namespace)

    def _holder(self, session_id: str) -> LeaseHolder | None:
        if session_id not in self._holders:
            key = self._key(session_id)
            with suppress(FileNotFoundError, StoreError):
                self._holders[session_id] = parse_stored(
                    self._storage.get(key), LeaseHolder, self._storage.describe(key)
                )
        return self._holders.get(session_id)

    def _is_recent(self, beat: tuple[float, datetime]) -> bool:
        # The monotonic clock may stand still while a machine sleeps, and the other may be set.
        elapsed = self._clock.monotonic() - beat[0], (self._clock.now() - beat[1]).total_seconds()
        return max(elapsed) < LOST_AFTER

    def _keep_beating(self) -> None:
        while not self._stopped.wait(BEAT):
            with suppress(StoreError):  # `holds` says how long that can go on
                self.beat()

    def _lost(self) -> StoreError:
        return StoreError(
            f"This process could not show for {LOST_AFTER:.0f} s that it is alive, so others may make its runs now.",
            hint="Finished runs are stored. Continue with `salvo run --resume`, or with the same --batch or --shard.",
        )

    @staticmethod
    def _key(session_id: str) -> str:
        return f"sessions/{session_id}.json"
