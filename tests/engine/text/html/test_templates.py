"""Packaged templates: whatever a value is, it stays text, and the page allows only its own style."""

import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from jinja2 import UndefinedError
from markupsafe import Markup

from salvo.engine.text.formatting import NamedValue
from salvo.engine.text.html import templates
from tests.support.parsed_html import ParsedHtml

HOSTILE = "</title></style><script>alert(1)</script>\" onload='x' {{ 7*7 }} \u202e&"

_BODY = """{% extends "base.html" %}
{% from "macros.html" import badge, rows, scale, table, table_frame, text_list %}
{% block body %}
<p title="{{ text }}">{{ text }}</p>
<p>{{ text|visible }}</p>
<p>{{ text|foreign }}</p>
{{ badge(text, text) }}
{{ rows([value]) }}
{{ rows([value], class=text) }}
{{ text_list([text], text) }}
{{ text_list([], text) }}
{{ table(text, [text], [[text]], text) }}
{{ table(text, [text], [[text]], row_headers=true) }}
{% call table_frame(text, [text]) %}<tr><td>{{ text }}</td></tr>{% endcall %}
{{ scale(text, 0.5, [(0.5, text)], text, (0.25, 0.75)) }}
{% endblock %}
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "packaged_pages" / "templates"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "hostile.html").write_text(_BODY)
    (folder / "small.html").write_text(
        '{% extends "base.html" %}{% block body %}{{ value }}|{{ value|foreign }}{{ nothing }}{% endblock %}'
    )
    monkeypatch.syspath_prepend(tmp_path)
    templates._environment.cache_clear()
    return "packaged_pages"


def _body(page: str) -> str:
    return page.split("<body>\n")[1].split("</body>", maxsplit=1)[0]


def test_hostile_text_cannot_become_markup(package: str) -> None:
    value = NamedValue(HOSTILE, HOSTILE, code=True)
    page = templates.render_page(package, "hostile.html", title=HOSTILE, text=HOSTILE, value=value)
    outline = ParsedHtml(page)
    assert "script" not in outline.by_element
    assert not outline.values("onload")
    assert "\u202e" not in page
    assert outline.by_element["title"] == [HOSTILE.replace("\u202e", "⟦U+202E⟧")]
    assert outline.values("title") == [HOSTILE.replace("\u202e", "⟦U+202E⟧")]


def test_text_is_escaped_and_what_is_invisible_is_spelled_out(package: str) -> None:
    page = templates.render_page(package, "small.html", title="", nothing=None, value="<b>\u202e")
    assert _body(page) == '&lt;b&gt;⟦U+202E⟧|<bdi>&lt;b&gt;<span class="odd">U+202E</span></bdi>'


def test_markup_and_numbers_stay_and_none_is_nothing(package: str) -> None:
    markup = templates.render_page(package, "small.html", title="", nothing=None, value=Markup("<i>1</i>"))
    assert _body(markup) == "<i>1</i>|<bdi><i>1</i></bdi>"
    assert _body(templates.render_page(package, "small.html", title="", nothing=None, value=7)) == "7|<bdi>7</bdi>"


def test_an_unknown_name_is_an_error(package: str) -> None:
    with pytest.raises(UndefinedError, match="value"):
        templates.render_page(package, "small.html", title="")


def test_the_policy_allows_the_one_stylesheet_and_nothing_else(package: str) -> None:
    own = '.own > p { content: "&"; }\n'
    outline = ParsedHtml(templates.render_page(package, "small.html", title="", style=own, nothing=None, value=""))
    [style] = outline.by_element["style"]
    shared = files("salvo.engine.text.html").joinpath("page.css").read_text(encoding="utf-8")
    assert style == shared + own
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert outline.values("content")[0] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_the_scale_keeps_its_labels_inside_the_picture() -> None:
    page = templates._environment("salvo.engine.text.html").from_string(
        '{% from "macros.html" import scale %}{{ scale("Rate", 0.25, ticks, "pass", (0.1, 0.4)) }}'
    )
    ticks = [(0.0, "low"), (0.5, "half"), (1.0, "high")]
    assert page.render(ticks=ticks) == snapshot("""\
<svg viewBox="0 0 420 50" role="img" aria-label="Rate" class="scale pass">
<rect x="10" y="10" width="400" height="16" class="track"></rect>
<rect x="10" y="10" width="100.0" height="16" class="bar"></rect>
<path d="M50.0 12V24M50.0 18H170.0M170.0 12V24" class="edge"></path>
<path d="M50.0 12V24M50.0 18H170.0M170.0 12V24" class="whisker"></path>
<line x1="10.0" x2="10.0" y1="6" y2="30" class="tick"></line>
<text x="10.0" y="44" text-anchor="start">low</text>
<line x1="210.0" x2="210.0" y1="6" y2="30" class="tick"></line>
<text x="210.0" y="44" text-anchor="middle">half</text>
<line x1="410.0" x2="410.0" y1="6" y2="30" class="tick"></line>
<text x="410.0" y="44" text-anchor="end">high</text>
</svg>
""")


def test_jinja_is_imported_only_for_rendering() -> None:
    code = "import sys, salvo.engine.text.html.templates; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_text_has_enough_contrast_in_light_and_dark() -> None:
    style = templates.stylesheet("salvo.engine.text.html", "page.css")
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    )
    tones = [(tone, f"{tone}-tint") for tone in ("red", "amber", "blue", "green", "grey")]
    inks = [*product(("ink", "soft", "link"), ("paper", "card")), *product(["ink"], ("mark", "mark-deep", "well"))]
    on_tints = [*product(("ink", "soft", "link", "red"), [tint for _, tint in tones])]
    small = [*product(("red", "amber", "green"), ("card", "well")), ("red", "mark"), ("soft", "well")]
    for palette, (ink, paper) in product((light, dark), [*tones, *inks, *on_tints, *small]):
        darker, lighter = sorted((_luminance(palette[ink]), _luminance(palette[paper])))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (ink, paper)
