"""Find the lines that a document repeats on its pages: running headers, footers and page numbers. Pure.

A line is left out only at the top or the bottom of a page, and only if most pages have it there: the same words, or
the same words around a number that counts the pages. Everything else is text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

MAX_LINES = 5
"""Lines of a header or a footer. If more lines are repeated, the pages have the same content, which is text."""
_MAX_LENGTH = 150

End: TypeAlias = Literal[0, -1]
_ENDS: tuple[End, End] = (0, -1)
"""The top and the bottom of a page, as indexes of its lines."""
_Pages: TypeAlias = list[list[str]]
_Key: TypeAlias = tuple[str, int | None]
"""A line without its page number, and that number less the number of the page; None if the line has none."""


class RunningLine(NamedTuple):
    text: str
    """As on the first page that has it."""
    pages: int
    numbered: bool
    """Whether it contains a page number, so that it differs from page to page."""


def split_running_lines(pages: Sequence[str]) -> tuple[list[str], list[RunningLine]]:
    """Return the pages without their running lines, and those lines. If nothing else is on the pages, they stay."""
    for max_lines in (MAX_LINES, 1):  # if all lines are repeated, those inside may be the text
        remaining: _Pages = [page.splitlines() for page in pages]
        running_lines: list[RunningLine] = []
        for end in _ENDS:
            remaining, lines = _split_end(remaining, end, max_lines)
            running_lines += lines
        if not running_lines:
            break
        if any(line.strip() for page in remaining for line in page):
            return ["\n".join(page) for page in remaining], running_lines
    return list(pages), []


def _split_end(pages: _Pages, end: End, max_lines: int) -> tuple[_Pages, list[RunningLine]]:
    """Take the repeated lines from one end of the pages, the outermost first."""
    remaining = [list(page) for page in pages]
    running_lines: list[RunningLine] = []
    for _ in range(max_lines):
        running_lines += _outermost_running_lines(remaining, end)
    if max_lines > 1 and _outermost_running_lines([list(page) for page in remaining], end):
        return pages, []
    return remaining, running_lines


def _outermost_running_lines(pages: _Pages, end: End) -> list[RunningLine]:
    """Remove the outermost line of every page where most pages have it, and return those lines."""
    positions = {number: index for number, page in enumerate(pages, start=1) if (index := _outermost(page, end)) >= 0}
    pages_by_key: dict[_Key, list[int]] = defaultdict(list)
    for number, index in positions.items():
        for key in _keys(pages[number - 1][index].strip(), number):
            pages_by_key[key].append(number)
    running_lines = []
    for (_, offset), numbers in sorted(pages_by_key.items(), key=lambda item: -len(item[1])):
        remaining = [number for number in numbers if number in positions]
        if not _is_most(len(remaining), len(pages), offset):
            continue
        texts = [pages[number - 1].pop(positions.pop(number)).strip() for number in remaining]
        running_lines.append(RunningLine(texts[0], len(texts), offset is not None))
    return running_lines


def _is_most(repetitions: int, pages: int, offset: int | None) -> bool:
    if repetitions == 2 and offset:  # two numbers may follow each other by chance
        return False
    return repetitions >= 2 and repetitions * 2 > pages


def _outermost(page: list[str], end: End) -> int:
    """Return the index of the first or last line with text, or -1."""
    indexes = [index for index, line in enumerate(page) if line.strip()]
    return indexes[end] if indexes else -1


def _keys(line: str, page: int) -> Iterator[_Key]:
    if len(line) > _MAX_LENGTH:
        return
    if sum(character.isalnum() for character in line) >= 2:
        yield " ".join(line.split()), None
    for match in re.finditer(r"\d{1,5}", line):
        before, after = line[: match.start()], line[match.end() :]
        if _counts_pages(before, after):
            yield f"{before}\0{after}", int(match[0]) - page
    decoration = line.strip(_DECORATION)
    if decoration in _ROMAN:
        yield line.replace(decoration, "\0i"), _ROMAN[decoration] - page


_DECORATION = " \t-–—|·•/[]*"
"""What may stand around a page number. Not the marks of a list: a number with a dot or in parentheses is text."""
_ROMAN = {
    tens + ones: 10 * ten + one
    for ten, tens in enumerate(("", "x", "xx", "xxx", "xl"))
    for one, ones in enumerate(("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"))
    if tens + ones
}
_PAGE_WORD = re.compile(
    r"(?:^|[^\w])(?:page|pg\.?|p\.|seite|s\.|página|pagina|pág\.|pag\.|blz\.|sida|side|strona|str\.)\s*$", re.IGNORECASE
)
_TOTAL = re.compile(r"^\s*(?:of|/|von|sur|de|di|van|din|av|z)\s*\d{1,5}\b", re.IGNORECASE)
_SEPARATED_BEFORE = re.compile(r"(?:[|·•]\s*|\t|\s{3,})$")
_SEPARATED_AFTER = re.compile(r"^(?:\s*[|·•]|\t|\s{3,})")


def _counts_pages(before: str, after: str) -> bool:
    """Return whether a number between these is written like that of a page. "Section 3" is not."""
    if _PAGE_WORD.search(before):
        return True
    after = _TOTAL.sub("", after, count=1)
    begins_line, ends_line = not before.strip(_DECORATION), not after.strip(_DECORATION)
    if begins_line and ends_line:
        return True
    separated = (ends_line and _SEPARATED_BEFORE.search(before)) or (begins_line and _SEPARATED_AFTER.search(after))
    return bool(separated)
