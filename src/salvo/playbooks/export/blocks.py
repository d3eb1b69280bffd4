"""What a page is put together from: sections, lists, tables, badges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from salvo.playbooks.export.markup import Child, Markup, element, foreign, joined
from salvo.playbooks.report import VarianceSummary
from salvo.playbooks.verdict import Result, Status
from salvo.playbooks.wording import Row

_SIGNS = {
    Status.ALERT: "▲",
    Status.REVIEW: "◆",
    Status.OBSERVE: "●",
    Status.STABLE: "■",
    Result.PASS: "✓",
    Result.FAIL: "✗",
    Result.INDETERMINATE: "?",
}


def section(title: str, *content: Child) -> Iterator[Markup]:
    yield element("h2", title)
    yield joined(content)


def part(title: str, content: Markup | None) -> Iterator[Markup]:
    if content is not None:
        yield element("h4", title)
        yield content


def badge(of: Status | Result) -> Markup:
    """A word and a sign: colour is never all that tells."""
    sign = element("span", _SIGNS[of], aria_hidden="true")
    return element("span", sign, f" {of.upper()}", class_=f"badge {of}")


def soft(words: str) -> Markup:
    return element("span", words, class_="soft")


def sentence(class_: str, words: str | None) -> Markup | None:
    return element("p", words, class_=class_, dir="auto") if words else None


def rows(of: Sequence[Row], class_: str = "rows") -> Markup:
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


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], class_: str = "scroll") -> Markup:
    head = element("thead", element("tr", *(element("th", column, scope="col") for column in columns)))
    body = (element("tr", *(element("td", _cell(cell)) for cell in row)) for row in rows)
    whole = element("table", element("caption", caption), head, element("tbody", *body))
    return element("div", whole, class_=class_, tabindex="0", role="region", aria_label=caption)


def _cell(content: str) -> Markup:
    return content if isinstance(content, Markup) else foreign(content)


def between(comma: str, items: Iterable[Markup]) -> Iterator[Child]:
    for number, item in enumerate(items):
        if number:
            yield comma
        yield item


def scale(of: VarianceSummary, score: float) -> Markup:
    """Where the score stands between 0 and 1, with the two thresholds."""
    tone = Result.PASS if score >= of.threshold_ok else Result.FAIL if score < of.threshold_warn else Status.OBSERVE
    label = f"Consistency {score:.2f}; thresholds {of.threshold_warn:.2f} and {of.threshold_ok:.2f}"
    ticks = (
        joined(
            [
                element("line", x1=_x(at), x2=_x(at), y1="6", y2="30", class_="tick"),
                element("text", f"{at:.2f}", x=_x(at), y="44", text_anchor="middle"),
            ]
        )
        for at in (of.threshold_warn, of.threshold_ok)
    )
    return element(
        "svg",
        element("rect", x="10", y="10", width="400", height="16", class_="track"),
        element("rect", x="10", y="10", width=f"{400 * score:.1f}", height="16", class_="bar"),
        *ticks,
        viewBox="0 0 420 50",
        role="img",
        aria_label=label,
        class_=f"scale {tone}",
    )


def _x(share: float) -> str:
    return f"{10 + 400 * share:.1f}"
