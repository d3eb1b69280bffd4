"""Render packaged Jinja2 templates as self-contained HTML files: no script, no request, nothing foreign as markup.

A package keeps its templates in its folder `templates`. A page extends `base.html`, which brings the shared stylesheet
and a Content-Security-Policy that allows only that one stylesheet, by its hash:

    {% extends "base.html" %}
    {% from "macros.html" import badge, rows %}
    {% block body %}<h1>{{ name|foreign }}</h1>{% endblock %}

    html = render_page("salvo.scenarios.report", "batch.html", title="…", style=css, name=scenario_id)

Every value is escaped, and its invisible characters are spelled out as ⟦U+202E⟧; this is safe in text and in quoted
attributes. None is rendered as nothing, and an unknown name is an error. Two filters are for text content only:

- `{{ value|visible }}` sets invisible characters apart with an element;
- `{{ value|foreign }}` does the same, and isolates the direction of writing. Use it for text of
  models, tools and users.

The filter `safe` must not be used on anything that a user, a model or a tool wrote.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from salvo.engine.text.unicode_escape import INVISIBLE, code_point, visible

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = "salvo.engine.text.html"


def render_page(package: str, template: str, *, title: str, style: str = "", **context: Any) -> str:
    """Return the page; `style` is CSS in addition to the shared stylesheet."""
    style = stylesheet(_HERE, "page.css") + style
    digest = b64encode(sha256(style.encode()).digest()).decode()
    page = _environment(package).get_template(template)
    return page.render(title=title, style=style, style_digest=digest, **context)


def render_part(package: str, template: str, **context: Any) -> Markup:
    """Return a part of a page, which a template inserts as it is: its own template has escaped it."""
    return Markup(_environment(package).get_template(template).render(**context))  # noqa: S704 - escaped by the template


@cache
def stylesheet(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def print_margins(footer: str, header: str = "") -> str:
    """Return CSS for printed pages, with the header at the top, the footer and the page number at the bottom of each.

    Both may be of any origin.
    """
    font = "font: 7.5pt system-ui, sans-serif; color: #50565f;"
    top = f"@top-left {{ content: {_css_string(header)}; {font} width: 85%; }} " if header else ""
    return (
        f"@page {{ margin: {'18mm' if header else '16mm'} 16mm 22mm; {top}"
        f"@bottom-left {{ content: {_css_string(footer)}; {font} width: 85%; }} "
        '@bottom-right { content: counter(page) " / " counter(pages); font: 7.5pt system-ui, sans-serif; } }\n'
    )


_HARMLESS = " .,:;()≠–-_"


def _css_string(text: str) -> str:
    """Return a CSS string. All but harmless characters is escaped, so it can end neither the string nor the style."""
    one_line = " ".join(visible(text).split())
    escaped = (char if char.isalnum() or char in _HARMLESS else f"\\{ord(char):x} " for char in one_line)
    return f'"{"".join(escaped)}"'


@cache
def _environment(package: str) -> Environment:
    # Imported here because Jinja2 takes 40 ms to import, and only HTML needs it.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, _HERE))]),
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(visible=_visible, foreign=_foreign)
    return environment


def _finalize(value: Any) -> Any:
    """Prepare the value of an expression for output; Jinja2 escapes the result unless it is Markup."""
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _visible(text: str) -> Markup:
    """Return the escaped text with each invisible character set apart, or Markup as it is; not for attributes."""
    if isinstance(text, Markup):
        return text
    escaped = re.sub(INVISIBLE, lambda match: f'<span class="odd">{code_point(match[0])}</span>', str(escape(text)))
    return Markup(escaped)  # noqa: S704 - escaped in the line above


def _foreign(text: str) -> Markup:
    """Return the same in a `bdi` element, so that its direction of writing does not reorder the text around it."""
    return Markup("<bdi>{}</bdi>").format(_visible(text))
