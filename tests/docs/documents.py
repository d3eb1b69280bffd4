"""The project's Markdown: which documents there are, and the fenced blocks, headings and links in them."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
WRITTEN = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "examples" / "README.md",
    *sorted(set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "index.md"}),
]
"""By people. The reference is generated and has its own test; index.md only lists the pages of the website."""
EVERY = [*WRITTEN, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs" / "reference").glob("*.md"))]


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and what follows it, its content, and the file that the line before it names."""

    language: str
    more: str
    content: str
    line: int
    file: str | None = None


def name_of(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


def blocks(document: Path) -> list[Block]:
    return list(_blocks(document.read_text(encoding="utf-8")))


def _blocks(text: str) -> Iterator[Block]:
    before = ""
    for token in _tokens(text):
        if token.type == "fence":
            language, _, more = token.info.partition(" ")
            assert token.map is not None
            # "Save it as `scenarios/refund.yaml`:" makes the block below it that file.
            named = re.search(r"`([^`\s]+)`:$", before)
            yield Block(language, more, token.content, token.map[0] + 1, named and named.group(1))
            before = ""
        elif token.type == "inline":
            before = token.content


@cache
def anchors(document: Path) -> set[str]:
    """As GitHub makes them of headings."""
    found, seen = set[str](), Counter[str]()
    tokens = _tokens(document.read_text(encoding="utf-8"))
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open":
            plain = "".join(child.content for child in content.children or ())
            anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
            seen[anchor] += 1
            found.add(f"{anchor}-{seen[anchor] - 1}" if seen[anchor] > 1 else anchor)
    return found


def links(document: Path) -> list[str]:
    """Where links lead and images lie."""
    found = []
    for token in _tokens(document.read_text(encoding="utf-8")):
        for child in token.children or ():
            target = child.attrGet("href") or child.attrGet("src")
            if target:
                found.append(str(target))
        found += re.findall(r'(?:src|href)="([^"]+)"', token.content) if token.type == "html_block" else []
    return found


def code_spans(document: Path) -> list[str]:
    """What stands in `code` in a sentence or a table."""
    return [
        re.sub(r"\s+", " ", child.content)
        for token in _tokens(document.read_text(encoding="utf-8"))
        for child in token.children or ()
        if child.type == "code_inline"
    ]


def make_targets(document: Path) -> set[str]:
    """Named in `code` or in a block, as in `make test`."""
    text = document.read_text(encoding="utf-8")
    return set(re.findall(r"(?:`|^\$ |&& )make (?:[A-Z]+=\S+ )?([a-z][a-z-]*)", text, re.MULTILINE))


@cache
def _tokens(text: str) -> list[Token]:
    return _parser().parse(text)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")
