"""A page as one file: the stylesheet that every page shares, its own, and a policy that allows nothing else."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from salvo.engine.text.html.markup import Markup, element, flat


def page(title: str, style: str, body: Markup) -> str:
    """`style` is what the page has beyond the shared stylesheet."""
    return f"<!DOCTYPE html>\n{element('html', _head(title, _shared() + style), body, lang='en')}\n"


def stylesheet(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def paper(foot: str) -> str:
    """The margins of a printed page, with a line of ours at the foot of each, and its number."""
    return (
        "@page { margin: 16mm 16mm 22mm; "
        f'@bottom-left {{ content: "{foot}"; font: 7.5pt system-ui, sans-serif; color: #50565f; width: 85%; }} '
        '@bottom-right { content: counter(page) " / " counter(pages); font: 7.5pt system-ui, sans-serif; } }\n'
    )


@cache
def _shared() -> str:
    return stylesheet("salvo.engine.text.html", "page.css")


def _head(title: str, style: str) -> Markup:
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", flat(title)),
        element("style", Markup(style)),
    )
