"""Token counts and prompt caches: what each provider writes into `usage`.

A token is four characters, rounded up. Caches know prefixes by their hashes: a long prompt costs one pass.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from tests.support.provider.models import is_one_of
from tests.support.provider.request import blocks_of

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a call used, in buckets that do not overlap; `thinking` and `cache_write_1h` say how much of
    `output` and `cache_write` was that."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    thinking: int = 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request's prompt as the cache saw it on arrival: what is answered later cannot help it any more."""

    tokens: int
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    prefixes: tuple[bytes, ...] = ()

    def usage(self, output: int, thinking: int = 0) -> Usage:
        return Usage(
            input=self.tokens - self.cache_read - self.cache_write,
            output=output + thinking,
            cache_read=self.cache_read,
            cache_write=self.cache_write,
            cache_write_1h=self.cache_write_1h,
            thinking=thinking,
        )


def tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class AnthropicCache:
    """Explicit caching: a block with `cache_control` ends a prefix that later requests can read."""

    # The shortest prefix that is cached at all. Below it nothing is, and nothing says so.
    FLOORS = (
        ("claude-haiku-4-5*", 4096),
        ("claude-opus-4-[567]*", 4096),
        ("claude-opus-5*", 512),
        ("claude-fable-5*", 512),
        ("claude-mythos-5*", 512),
        ("*", 1024),
    )
    # From a marked block the provider looks back over this many blocks for a prefix it knows.
    LOOK_BACK = 20

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def meet(self, body: dict[str, Any]) -> Prompt:
        segments = list(_anthropic_segments(body))
        if not any(segment.ttl for segment in segments):
            return Prompt(tokens(sum(len(segment.text) for segment in segments)))
        boundaries = list(_boundaries(segments, str(body["model"])))
        floor = next(floor for pattern, floor in self.FLOORS if is_one_of(str(body["model"]), [pattern]))
        marked = [n for n, boundary in enumerate(boundaries) if boundary.ttl and boundary.tokens >= floor]
        read = max((self._readable(boundaries[: n + 1]) for n in marked), default=0)
        written = {"5m": 0, "1h": 0}
        reached = read
        for boundary in (boundaries[n] for n in marked):
            if boundary.tokens > reached:
                written[boundary.ttl] += boundary.tokens - reached
                reached = boundary.tokens
        return Prompt(
            tokens=boundaries[-1].tokens,
            cache_read=read,
            cache_write=sum(written.values()),
            cache_write_1h=written["1h"],
            prefixes=tuple(boundaries[n].digest for n in marked),
        )

    def keep(self, prompt: Prompt) -> None:
        """The prompt was answered: from now on its prefixes can be read."""
        self._known.update(prompt.prefixes)

    def _readable(self, boundaries: "list[_Boundary]") -> int:
        in_sight = reversed(boundaries[-1 - self.LOOK_BACK :])
        return next((boundary.tokens for boundary in in_sight if boundary.digest in self._known), 0)


class OpenAICache:
    """Automatic caching: every prefix from 1,024 tokens on, in steps of 128, without being asked."""

    FLOOR = 1024
    STEP = 128
    # From this family on a write costs more than plain input, and is reported.
    REPORTS_WRITES = ("gpt-5.[6-9]*", "gpt-[6-9]*")

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def meet(self, body: dict[str, Any]) -> Prompt:
        text = "".join(compact(part) for part in (*(body.get("tools") or ()), *body["messages"]))
        total = tokens(len(text))
        if total < self.FLOOR:
            return Prompt(total)
        model = str(body["model"])
        prefixes = tuple(self._prefixes(text, model))
        known = next((n for n, prefix in enumerate(prefixes) if prefix not in self._known), len(prefixes))
        writes = is_one_of(model, self.REPORTS_WRITES)
        return Prompt(
            tokens=total,
            cache_read=self._length(known),
            cache_write=self._length(len(prefixes)) - self._length(known) if writes else 0,
            prefixes=prefixes,
        )

    def keep(self, prompt: Prompt) -> None:
        """The prompt was answered: from now on its prefixes can be read."""
        self._known.update(prompt.prefixes)

    def _length(self, prefixes: int) -> int:
        return self.FLOOR + (prefixes - 1) * self.STEP if prefixes else 0

    def _prefixes(self, text: str, model: str) -> Iterator[bytes]:
        digest = blake2b(model.encode(), digest_size=16)
        start = 0
        for end in range(self.FLOOR * CHARACTERS_PER_TOKEN, len(text) + 1, self.STEP * CHARACTERS_PER_TOKEN):
            digest.update(text[start:end].encode("utf-8", "surrogatepass"))
            yield digest.digest()
            start = end


class _Segment(NamedTuple):
    place: str
    text: str
    ttl: str


class _Boundary(NamedTuple):
    digest: bytes
    tokens: int
    ttl: str


def _anthropic_segments(body: dict[str, Any]) -> Iterator[_Segment]:
    """The prompt in the order it is cached: tools, then system, then messages."""
    placed = [("tools", tool) for tool in body.get("tools") or ()]
    placed += [("system", block) for block in blocks_of(body.get("system"))]
    placed += [(m["role"], block) for m in body["messages"] for block in blocks_of(m["content"])]
    automatic = body.get("cache_control")
    for remaining, (place, block) in zip(range(len(placed) - 1, -1, -1), placed, strict=True):
        mark = block.get("cache_control") or (automatic if not remaining else None)
        yield _Segment(place, _text(block), mark.get("ttl", "5m") if mark else "")


def _text(block: dict[str, Any]) -> str:
    if block.get("type") == "text":
        return str(block["text"])
    return compact({field: value for field, value in block.items() if field != "cache_control"})


def _boundaries(segments: list[_Segment], model: str) -> Iterator[_Boundary]:
    digest = blake2b(model.encode(), digest_size=16)
    characters = 0
    for place, text, ttl in segments:
        # The length keeps "ab" + "c" from looking like "a" + "bc".
        digest.update(f"\0{place}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
        characters += len(text)
        yield _Boundary(digest.digest(), tokens(characters), ttl)
