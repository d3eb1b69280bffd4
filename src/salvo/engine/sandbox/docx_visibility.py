"""Whether the reader of a .docx sees a run: hidden formatting, the colour of its background, a tiny font. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docx.document import Document as DocumentObject

from salvo.engine.sandbox.hidden_text import MIN_POINTS, WHITE, is_readable_on, luminance
from salvo.engine.sandbox.outline.docx_styles import WORD, attribute, style_chain

_OFF = {"0", "false", "off", "none"}
_HIGHLIGHTS = {
    "black": "000000", "blue": "0000FF", "cyan": "00FFFF", "green": "00FF00", "magenta": "FF00FF", "red": "FF0000",
    "yellow": "FFFF00", "white": "FFFFFF", "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000",
    "darkMagenta": "800080", "darkRed": "800000", "darkYellow": "808000", "darkGray": "808080", "lightGray": "C0C0C0",
}  # fmt: skip
_FILLS = ("solidFill", "gradFill", "blipFill", "pattFill")


class RunVisibility:
    """Answers for the runs of one document. Styles are looked up once."""

    def __init__(self, document: DocumentObject) -> None:
        self._styles: dict[str, Any] = {}
        self._defaults: list[Any] = []
        self._default_paragraph_style = ""
        for style in document.styles.element:
            if style.tag == f"{WORD}docDefaults":
                self._defaults = list(style.iter(f"{WORD}rPr"))
            elif style.tag == f"{WORD}style":
                name = style.get(f"{WORD}styleId", "")
                self._styles[name] = style
                if style.get(f"{WORD}type") == "paragraph" and style.get(f"{WORD}default") in ("1", "true"):
                    self._default_paragraph_style = name
        page = document.element.find(f"{WORD}background")
        self._page = WHITE if page is None else _luminance(page.get(f"{WORD}color")) or WHITE
        self._chains: dict[str, list[Any]] = {}
        self._shaded_tables: dict[str, bool] = {}

    def is_hidden(self, text: Any) -> bool:
        """Return whether the text of this `w:t` is not to be seen."""
        ancestors = list(text.iterancestors())
        run = next((element for element in ancestors if element.tag == f"{WORD}r"), None)
        if run is None:
            return False
        paragraph = next((element for element in ancestors if element.tag == f"{WORD}p"), None)
        properties = list(self._properties(run, paragraph))
        return (
            _is_on(_first(properties, "vanish"))
            or any(_in_hidden_row(element) for element in ancestors)
            or self._is_tiny(properties)
            or self._is_background_coloured(properties, paragraph, ancestors)
        )

    def _properties(self, run: Any, paragraph: Any) -> Iterator[Any]:
        """Yield the run's properties, the nearest first: its own, its style's, the paragraph's, the defaults."""
        own = run.find(f"{WORD}rPr")
        if own is not None:
            yield own
            yield from self._chain(attribute(own.find(f"{WORD}rStyle")) or "")
        name = None if paragraph is None else attribute(paragraph.find(f"{WORD}pPr/{WORD}pStyle"))
        yield from self._chain(name or self._default_paragraph_style)
        yield from self._defaults

    def _chain(self, name: str) -> list[Any]:
        """Return the run properties of a style and those it is based on."""
        if name not in self._chains:
            styles = style_chain(self._styles, name)
            self._chains[name] = [properties for style in styles for properties in style.findall(f"{WORD}rPr")]
        return self._chains[name]

    @staticmethod
    def _is_tiny(properties: list[Any]) -> bool:
        size = attribute(_first(properties, "sz"))
        try:
            return size is not None and float(size) / 2 < MIN_POINTS
        except ValueError:
            return False

    def _is_background_coloured(self, properties: list[Any], paragraph: Any, ancestors: list[Any]) -> bool:
        colour = _luminance(attribute(_first(properties, "color")))
        if colour is None:  # the automatic colour contrasts with its background
            return False
        background = self._background(properties, paragraph, ancestors)
        return background is not None and not is_readable_on(colour, background)

    def _background(self, properties: list[Any], paragraph: Any, ancestors: list[Any]) -> float | None:
        """Return the luminance behind the run, or None if that is not known."""
        highlight = _HIGHLIGHTS.get(attribute(_first(properties, "highlight")) or "")
        if highlight:
            return _luminance(highlight)
        shadings = [_first(properties, "shd")]
        if paragraph is not None:
            shadings.append(paragraph.find(f"{WORD}pPr/{WORD}shd"))
        for element in ancestors:
            if element.tag == f"{WORD}tc":
                shadings.append(element.find(f"{WORD}tcPr/{WORD}shd"))
            elif element.tag == f"{WORD}tbl":
                shadings.append(element.find(f"{WORD}tblPr/{WORD}shd"))
                if self._table_style_shades(attribute(element.find(f"{WORD}tblPr/{WORD}tblStyle")) or ""):
                    return next((fill for fill in map(_fill, shadings) if fill is not None), None)
            elif element.tag.endswith(("}wsp", "}shape", "}rect", "}roundrect")) and _has_fill(element):
                return next((fill for fill in map(_fill, shadings) if fill is not None), None)
        return next((fill for fill in map(_fill, shadings) if fill is not None), self._page)

    def _table_style_shades(self, name: str) -> bool:
        if name not in self._shaded_tables:
            style = self._styles.get(name)
            shadings = [] if style is None else list(style.iter(f"{WORD}shd"))
            self._shaded_tables[name] = any(_fill(shading) is not None for shading in shadings)
        return self._shaded_tables[name]


def _first(properties: list[Any], name: str) -> Any:
    return next((child for element in properties if (child := element.find(f"{WORD}{name}")) is not None), None)


def _is_on(element: Any) -> bool:
    return element is not None and (attribute(element) or "1").lower() not in _OFF


def _in_hidden_row(element: Any) -> bool:
    return element.tag == f"{WORD}tr" and _is_on(element.find(f"{WORD}trPr/{WORD}hidden"))


def _fill(shading: Any) -> float | None:
    return None if shading is None else _luminance(shading.get(f"{WORD}fill"))


def _has_fill(shape: Any) -> bool:
    """Return whether a drawn shape may have a colour of its own behind its text."""
    if shape.get("fillcolor") or shape.get("filled") in ("t", "true"):
        return True
    return any(element.tag.endswith(tuple(f"}}{fill}" for fill in _FILLS)) for element in shape.iter())


def _luminance(colour: str | None) -> float | None:
    """Return the luminance of RRGGBB; None for the automatic colour and for what is none."""
    try:
        value = bytes.fromhex((colour or "").removeprefix("#"))
    except ValueError:
        return None
    return luminance(*(part / 255 for part in value)) if len(value) == 3 else None
