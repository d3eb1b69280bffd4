"""Mutated files: bytes and structure of valid ones, changed at random but the same every time."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

TOKENS = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"\x1b]0;title\x07", b"\xe2\x80\xae", b"\r", b"\t", b"}", b"]", b'"', b"'",
    b"{{ x }}", b"${HOME}", b"!!python/object/apply:os.system ['true']", b"!include /dev/zero", b"&a [*a]", b"<<: *a",
    b"1e999", b"-0", b"NaN", b"9" * 400, b"null", b"true", b"[" * 2_000, b"{" * 500, b"(a+)+$", b"../" * 20, b"---\n", b"\n",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 10**30, 1.5, "", "x", "\u202e", "\ud800", "\x00", "(a|a)*b", "../../etc/passwd", [], {}, [[[]]],
    {"": None}, [None] * 3,
)  # fmt: skip


def mutated_bytes(content: bytes, count: int, seed: str) -> Iterator[bytes]:
    """Change one to four places: cut, repeat, flip, insert, or swap lines."""
    chance = random.Random(seed)
    for _ in range(count):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 4)):
            start = chance.randrange(len(changed) + 1)
            end = min(len(changed), start + chance.choice((1, 2, 8, 64, 512)))
            match chance.randrange(5):
                case 0:
                    del changed[start:end]
                case 1:
                    changed[start:start] = changed[start:end] * chance.choice((1, 2, 50))
                case 2 if start < len(changed):
                    changed[start] ^= 1 << chance.randrange(8)
                case 3:
                    changed[start:start] = chance.choice(TOKENS)
                case _:
                    lines = bytes(changed).splitlines(keepends=True)
                    chance.shuffle(lines)
                    changed = bytearray(b"".join(lines[: chance.randint(1, len(lines) or 1)]))
        yield bytes(changed)


def mutated_json(document: Any, count: int, seed: str) -> Iterator[bytes]:
    """Replace, remove, rename or repeat values of the document; every second one is mutated as bytes."""
    chance = random.Random(seed)
    for number in range(count):
        changed = json.loads(json.dumps(document))
        for _ in range(chance.randint(1, 3)):
            _change_value(changed, chance)
        content = json.dumps(changed).encode()
        yield next(mutated_bytes(content, 1, f"{seed} {number}")) if number % 2 else content


def _change_value(document: Any, chance: random.Random) -> None:
    holder = document
    while True:
        below = [
            value
            for value in (holder.values() if isinstance(holder, dict) else holder)
            if value and isinstance(value, (dict, list))
        ]
        if not below or chance.random() < 0.25:
            break
        holder = chance.choice(below)
    if not holder:
        return
    key = chance.choice(list(holder)) if isinstance(holder, dict) else chance.randrange(len(holder))
    match chance.randrange(4):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[f"{key}\u200b"] = holder.pop(key)
        case 2 if isinstance(holder, list):
            holder.append(holder[key])
        case _:
            holder[key] = copy.deepcopy(chance.choice(VALUES))
