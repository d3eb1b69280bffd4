"""What a page is put together from: sections, lists, tables, badges, a scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from salvo.engine.text.formatting import NamedValue
from salvo.engine.text.html.markup import Child, Markup, element, foreign, joined


def section(title: str, *content: Child) -> Iterator[Markup]:
    yield element("h2", title)
    yield joined(content)


def part(title: str, content: Markup | None) -> Iterator[Markup]:
    if content is not None:
        yield element("h4", title)
        yield content


def badge(word: str, sign: str) -> Markup:
    """A word and a sign: colour is never all that tells."""
    return element("span", element("span", sign, aria_hidden="true"), f" {word.upper()}", class_=f"badge {word}")


def soft(words: str) -> Markup:
    return element("span", words, class_="soft")


def sentence(class_: str, words: str | None) -> Markup | None:
    return element("p", words, class_=class_, dir="auto") if words else None


def rows(of: Sequence[NamedValue], class_: str = "rows") -> Markup:
    shown = (
        element(
            "div",
            element("dt", foreign(row.name)),
            element("dd", element("span", foreign(row.value), class_="hash") if row.code else foreign(row.value)),
        )
        for row in of
    )
    return element("dl", *shown, class_=class_)


def listed(items: Sequence[str], none: str) -> Markup:
    if not items:
        return element("p", none)
    return element("ul", *(element("li", foreign(item)) for item in items), class_="list")


def table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    class_: str = "scroll",
    *,
    named: bool = False,
) -> Markup:
    """`named` where the first cell of each row says what the row is about."""
    head = element("thead", element("tr", *(element("th", column, scope="col") for column in columns)))
    body = (element("tr", *_cells(row, named)) for row in rows)
    whole = element("table", element("caption", caption), head, element("tbody", *body))
    return element("div", whole, class_=class_, tabindex="0", role="region", aria_label=caption)


def _cells(row: Sequence[str], named: bool) -> Iterator[Markup]:
    for number, content in enumerate(row):
        cell = content if isinstance(content, Markup) else foreign(content)
        yield element("th", cell, scope="row") if named and number == 0 else element("td", cell)


def between(comma: str, items: Iterable[Markup]) -> Iterator[Child]:
    for number, item in enumerate(items):
        if number:
            yield comma
        yield item


def scale(
    label: str,
    share: float,
    ticks: Sequence[tuple[float, str]],
    tone: str,
    likely: tuple[float, float] | None = None,
) -> Markup:
    """Where a share stands between 0 and 1, with what it is held against, and between which bounds it likely is."""
    marks = (
        joined(
            [
                element("line", x1=_x(at), x2=_x(at), y1="6", y2="30", class_="tick"),
                element("text", words, x=_x(at), y="44", text_anchor=_anchor(at, words)),
            ]
        )
        for at, words in ticks
    )
    return element(
        "svg",
        element("rect", x="10", y="10", width="400", height="16", class_="track"),
        element("rect", x="10", y="10", width=f"{400 * share:.1f}", height="16", class_="bar"),
        _whisker(*likely) if likely else None,
        *marks,
        viewBox="0 0 420 50",
        role="img",
        aria_label=label,
        class_=f"scale {tone}",
    )


def _whisker(low: float, high: float) -> Markup:
    """Twice, first as a light edge: it crosses the bar and what is beyond it."""
    path = f"M{_x(low)} 12V24M{_x(low)} 18H{_x(high)}M{_x(high)} 12V24"
    return joined(element("path", d=path, class_=name) for name in ("edge", "whisker"))


def _x(share: float) -> str:
    return f"{10 + 400 * share:.1f}"


def _anchor(share: float, words: str) -> str:
    """Under its tick, unless the words would run out of the picture."""
    half = 3.5 * len(words) / 400
    return "start" if share < half else "end" if share > 1 - half else "middle"
