"""Template filters for foreign text: escape it, and make its invisible characters visible."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from salvo.engine.text.unicode_escape import INVISIBLE, code_point
from salvo.engine.text.unicode_escape import visible as spell_out


def finalize(value: Any) -> Any:
    """Prepare the value of an expression for output; Jinja2 escapes the result unless it is Markup."""
    if value is None:
        return ""
    return spell_out(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def visible(text: str) -> Markup:
    """Return the escaped text with each invisible character set apart; not for attributes.

    Markup is returned as it is.
    """
    if isinstance(text, Markup):
        return text
    escaped = INVISIBLE.sub(lambda match: f'<span class="odd">{code_point(match[0])}</span>', str(escape(text)))
    return Markup(escaped)  # noqa: S704 - escaped in the line above


def foreign(text: str) -> Markup:
    """Return the same in a `bdi` element, so that its direction of writing does not reorder the text around it."""
    return Markup("<bdi>{}</bdi>").format(visible(text))
