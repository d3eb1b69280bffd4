"""Replies that were received before, on disk, for development: CachingWire is a wire around another wire.

A request is found by the address of its endpoint and by lane, key and occurrence, as on the tape, and by a scope that
the caller chooses. Only complete replies without an error are kept, and only those that may be stored as they are: a
reply with private reasoning or a secret could be stored only in a redacted form, which the provider would not accept
back in a later request.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import stable_text
from salvo.engine.jsonio.type_adapters import type_adapter
from salvo.engine.runtime.files import make_folder, names, read_regular, unwritable, write, write_atomically
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire.base import Endpoint, Wire, WireReply, WireRequest
from salvo.engine.wire.matching import VERSION as MATCHING_VERSION
from salvo.engine.wire.matching import Matching
from salvo.engine.wire.tape import RequestKeys, clean_body
from salvo.errors import StoreError
from salvo.records import record

_VERSION = 1
_MAX_REPLY = 5 * 1024 * 1024
_MAX_FILE = 4 * _MAX_REPLY
"""A reply may be longer in a file than it was received, because of escapes. What is larger is not ours."""
_MAX_BYTES = 1024**3


@record
class CachedReply:
    salvo_cache: int
    headers: dict[str, str]
    body: Any
    seconds: float


class ReplyCache:
    """A folder with one file per reply. It can be deleted at any time."""

    def __init__(self, folder: Path, on_error: Callable[[StoreError], None] = lambda _: None) -> None:
        """`on_error` gets the first error in writing, after which nothing more is written."""
        self.folder = folder
        self._on_error = on_error
        self._is_writable = True

    def prepare(self, max_bytes: int = _MAX_BYTES) -> None:
        """Create the folder, and remove the oldest replies if there are more bytes than this."""
        try:
            make_folder(self.folder)
            with suppress(FileExistsError):
                write(self.folder / ".gitignore", b"*\n")  # it is worth nothing to others
        except OSError as error:
            raise unwritable(self.folder, error) from error
        files = sorted(self._files(), key=lambda file: file[1].st_mtime_ns, reverse=True)
        total = 0
        for path, state in files:
            total += state.st_size
            if total > max_bytes:
                with suppress(FileNotFoundError):  # another process may remove the same
                    path.unlink()

    def load(self, key: str) -> WireReply | None:
        """Return the reply; None if there is none, or if the file is damaged: then it is asked for again."""
        try:
            stored = read_regular(self._file(key), _MAX_FILE + 1)
            if len(stored) > _MAX_FILE:
                return None
            content = json_codec.loads(stored, max_depth=json_codec.MAX_DEPTH_STORED)
            cached = type_adapter(CachedReply).validate_python(content)
        except (OSError, ValueError):
            return None
        if cached.salvo_cache != _VERSION:
            return None
        body = json_codec.dumps(cached.body)
        return WireReply(200, body, cached.headers, seconds=cached.seconds, from_cache=True)

    def save(self, key: str, reply: CachedReply) -> None:
        if not self._is_writable:
            return
        try:
            write_atomically(self._file(key), json_codec.dumps(reply))
        except StoreError as error:
            self._is_writable = False
            self._on_error(error)

    def size(self) -> tuple[int, int]:
        """Return the number of replies and of their bytes."""
        sizes = [state.st_size for _, state in self._files()]
        return len(sizes), sum(sizes)

    def clear(self) -> int:
        """Remove all replies, and return how many there were."""
        files = self._files()
        for path, _ in files:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise unwritable(path, error) from error
        return len(files)

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        files = []
        for name in names(self.folder):
            path = self.folder / name
            with suppress(FileNotFoundError):
                files.append((path, path.lstat()))
        return files

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


class CachingWire:
    """Answers requests of one run from the cache, and sends the others through the inner wire."""

    def __init__(
        self, inner: Wire, cache: ReplyCache, redactor: Redactor, endpoints: Mapping[str, Endpoint], scope: str
    ) -> None:
        self.hits = 0
        self.seconds = 0.0
        """How long the replies from the cache took when they were made, those of concurrent requests once."""
        self._inner = inner
        self._cache = cache
        self._redactor = redactor
        self._endpoints = endpoints
        self._scope = scope
        self._keys = RequestKeys(redactor, Matching(MATCHING_VERSION))
        self._new: list[tuple[str, str, CachedReply]] = []
        self._in_flight = 0
        self._longest = 0.0

    async def send(self, request: WireRequest) -> WireReply:
        key = self._key(request)
        cached = self._cache.load(key)
        if cached is not None:
            await self._count(cached.seconds)
            return cached
        reply = await self._inner.send(request)
        if reply.status == 200 and (storable := _storable(reply, self._redactor)) is not None:
            self._new.append((request.lane, key, storable))
        return reply

    def keep(self, is_good: Callable[[str], bool]) -> None:
        """Store the new replies of the lanes that turned out to be good, when the run has ended."""
        for lane, key, reply in self._new:
            if is_good(lane):
                self._cache.save(key, reply)
        self._new.clear()

    async def _count(self, seconds: float) -> None:
        self.hits += 1
        self._in_flight += 1
        self._longest = max(self._longest, seconds)
        await asyncio.sleep(0)  # lets the requests that are sent at the same time come in
        self._in_flight -= 1
        if not self._in_flight:
            self.seconds += self._longest
            self._longest = 0.0

    def _key(self, request: WireRequest) -> str:
        address, _ = self._keys.next(request)
        endpoint = self._endpoints.get(request.endpoint)
        place = request.endpoint if endpoint is None else endpoint.base_url
        return hashlib.sha256(stable_text([_VERSION, self._scope, place, *address]).encode()).hexdigest()


def _storable(reply: WireReply, redactor: Redactor) -> CachedReply | None:
    """Return the reply as it may be stored; None if that is not what was received."""
    if len(reply.body) > _MAX_REPLY:
        return None
    try:
        body = json_codec.loads(reply.body)
    except ValueError:
        return None  # a reply of a model is JSON
    received = stable_text(body)
    if clean_body(body, redactor)[1] != received or not isinstance(body, dict) or isinstance(body.get("error"), dict):
        return None
    return CachedReply(_VERSION, redactor.headers(reply.headers), body, reply.seconds)
