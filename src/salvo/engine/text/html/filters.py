"""Template filters for foreign text: escape it, and make its invisible characters visible."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from salvo.engine.text.unicode_escape import ODD, name, spelled


def finalize(value: Any) -> Any:
    """Prepare the value of an expression for output; Jinja2 escapes the result unless it is Markup."""
    if value is None:
        return ""
    return spelled(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def visible(text: str) -> Markup:
    """Return the escaped text with each invisible character set apart; not for attributes.

    Markup is returned as it is.
    """
    if isinstance(text, Markup):
        return text
    return Markup(ODD.sub(lambda match: f'<span class="odd">{name(match[0])}</span>', str(escape(text))))  # noqa: S704 - escaped


def foreign(text: str) -> Markup:
    """Return the same in a `bdi` element, so that its direction of writing does not reorder the text around it."""
    return Markup("<bdi>{}</bdi>").format(visible(text))
