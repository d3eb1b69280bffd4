"""HTML in which nothing foreign can be markup: an element escapes every child that is not markup already."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TypeAlias

from salvo.engine.text.unicode_escape import INVISIBLE, code_point, visible


class Markup(str):
    """HTML of our own making."""

    __slots__ = ()


Child: TypeAlias = "Markup | str | None"


def element(tag: str, *children: Child, **attributes: str | None) -> Markup:
    """`class_` and `aria_label` become class and aria-label; an attribute or a child that is None is left out."""
    opening = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{flat(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if tag == "meta":
        return Markup(f"<{tag}{opening}>")
    return Markup(f"<{tag}{opening}>{joined(children)}</{tag}>")


def joined(children: Iterable[Child]) -> Markup:
    return Markup(
        "".join(child if isinstance(child, Markup) else text(child) for child in children if child is not None)
    )


def text(of: str) -> Markup:
    """Foreign or ours: escaped, and its invisible characters shown."""
    return Markup(INVISIBLE.sub(_shown, html.escape(of)))


def flat(of: str) -> Markup:
    """The same where no element may stand: in an attribute, in a title."""
    return Markup(html.escape(visible(of)))


def foreign(of: str) -> Markup:
    """Within a line: whatever its direction of writing, it does not reorder what stands around it."""
    return element("bdi", of)


def _shown(found: re.Match[str]) -> str:
    return f'<span class="odd">{code_point(found.group())}</span>'
