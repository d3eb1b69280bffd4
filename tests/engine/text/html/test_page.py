"""What every page has: a policy that allows nothing but its own style, and colours that can be read."""

import re
from base64 import b64encode
from hashlib import sha256
from itertools import product

from salvo.engine.text.html.markup import element
from salvo.engine.text.html.page import page
from tests.support.outline import Outline

_PAGE = Outline(page("A <title>\u202e", ".own { color: var(--ink); }\n", element("body", element("h1", "Hello"))))


def test_the_policy_allows_the_one_stylesheet_and_nothing_else() -> None:
    [style] = _PAGE.by_element["style"]
    assert style.endswith(".own { color: var(--ink); }\n")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert _PAGE.values("content")[0] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_a_title_is_only_text() -> None:
    assert _PAGE.by_element["title"] == ["A <title>⟦U+202E⟧"]


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_text_has_enough_contrast_in_light_and_dark() -> None:
    [style] = _PAGE.by_element["style"]
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
