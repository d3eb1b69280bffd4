"""Tell the text of a PDF page that its reader sees from text that is white on white, tiny, transparent or off the page.

The page is read as a list of drawing operations. Each operation that shows text is judged by the state it is drawn in;
those that show nothing a reader could see are taken out of the page and read on their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from pypdf import PageObject
from pypdf.generic import ContentStream, NameObject

from salvo.engine.sandbox.hidden_text import MIN_POINTS, WHITE, is_readable_on, luminance
from salvo.records import record

Matrix: TypeAlias = tuple[float, float, float, float, float, float]
Operation: TypeAlias = tuple[Any, bytes]

_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_INVISIBLE_MODES = (3, 7)
"""Text rendering modes that draw nothing."""
_SHOWS = frozenset((b"Tj", b"TJ", b"'", b'"'))
_MAX_DEPTH = 5


class _Area(NamedTuple):
    """What was drawn before the text; `luminance` is None if its colour is not known, as in a picture."""

    left: float
    bottom: float
    right: float
    top: float
    luminance: float | None

    def contains(self, x: float, y: float) -> bool:
        return self.left - 1 <= x <= self.right + 1 and self.bottom - 1 <= y <= self.top + 1


@record
class _State:
    matrix: Matrix = _IDENTITY
    fill: float | None = 0.0
    """The luminance of the fill colour; None if it is not known."""
    alpha: float = 1.0
    mode: int = 0
    size: float = 0.0
    leading: float = 0.0


@dataclass(slots=True)
class _Page:
    """What is known about a page while its operations are read."""

    box: tuple[float, float, float, float]
    areas: list[_Area] = field(default_factory=list)
    has_picture: bool = False


def take_out_hidden_text(page: PageObject) -> str:
    """Take text that a reader does not see out of the page, and return it."""
    contents = page.get_contents()
    if contents is None:
        return ""
    box = page.mediabox
    layout = _Page((float(box.left), float(box.bottom), float(box.right), float(box.top)))
    return _split(page, contents, page.get("/Resources"), layout, _State(), 0).strip()


def _split(page: PageObject, contents: Any, resources: Any, layout: _Page, state: _State, depth: int) -> str:
    stream = contents if isinstance(contents, ContentStream) else ContentStream(contents, page.pdf)
    operations: list[Operation] = list(stream.operations)
    reader = _Reader(page, resources, layout, state, depth)
    hidden = {index for index, operation in enumerate(operations) if reader.hides(*operation)}
    shown = {index for index, (_, operator) in enumerate(operations) if operator in _SHOWS}
    invisible = {index for index in hidden if reader.modes.get(index) in _INVISIBLE_MODES}
    texts = reader.hidden_texts
    if layout.has_picture and invisible and invisible == shown:
        hidden -= invisible  # the recognised text of a scan: the reader sees it in the picture
    if not hidden:
        _replace(page, contents, stream, operations, depth)
        return "\n".join(texts)
    _replace(page, contents, stream, _without(operations, shown - hidden), depth)
    texts.append(page.extract_text() if depth == 0 else page.extract_xform_text(contents))
    _replace(page, contents, stream, _without(operations, hidden), depth)
    return "\n".join(texts)


def _replace(page: PageObject, contents: Any, stream: ContentStream, operations: list[Operation], depth: int) -> None:
    """Put the operations in the place of those of the page, or of the form that is drawn on it."""
    stream.operations = operations
    if depth == 0:
        page[NameObject("/Contents")] = stream
    else:
        contents.set_data(stream.get_data())


def _without(operations: Sequence[Operation], left_out: set[int]) -> list[Operation]:
    """Return the operations without some that show text. What else these do, such as to begin a line, stays."""
    operations_left: list[Operation] = []
    for index, (operands, operator) in enumerate(operations):
        if index not in left_out:
            operations_left.append((operands, operator))
        elif operator in (b"'", b'"'):
            operations_left.append(([], b"T*"))
    return operations_left


class _Reader:
    """Follows the state of drawing, as far as it says whether text is seen."""

    def __init__(self, page: PageObject, resources: Any, layout: _Page, state: _State, depth: int) -> None:
        self._page = page
        self._resources = resources.get_object() if resources is not None else {}
        self._layout = layout
        self._state = state
        self._depth = depth
        self._stack: list[_State] = []
        self._text = self._line = _IDENTITY
        self._path: list[tuple[float, float]] = []
        self._index = -1
        self.modes: dict[int, int] = {}
        """The text rendering mode of each operation that shows text."""
        self.hidden_texts: list[str] = []
        """Of the forms that are drawn on the page."""

    def hides(self, operands: Any, operator: bytes) -> bool:
        """Follow one operation, and return whether it shows text that a reader does not see."""
        self._index += 1
        try:
            handler = _HANDLERS.get(operator)
            if handler is not None:
                handler(self, operands)
            if operator in _SHOWS:
                if operator in (b"'", b'"'):
                    self.next_line([])
                self.modes[self._index] = self._state.mode
                return self._is_hidden()
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, ZeroDivisionError):
            return False  # an operation that is not understood hides nothing
        return False

    def _is_hidden(self) -> bool:
        state = self._state
        if state.mode in _INVISIBLE_MODES or state.alpha < _MIN_ALPHA:
            return True
        matrix = _product(self._text, state.matrix)
        if abs(state.size) * _scale(matrix) < MIN_POINTS:
            return True
        x, y = matrix[4], matrix[5]
        left, bottom, right, top = self._layout.box
        if not (left - _MARGIN <= x <= right and bottom - _MARGIN <= y <= top + _MARGIN):
            return True
        if state.fill is None or state.mode in (1, 2, 5, 6):  # outlines have their own colour
            return False
        background = next((area for area in reversed(self._layout.areas) if area.contains(x, y)), None)
        behind = WHITE if background is None else background.luminance
        return behind is not None and not is_readable_on(state.fill, behind)

    def save(self, _: Any) -> None:
        self._stack.append(self._state)

    def restore(self, _: Any) -> None:
        if self._stack:
            self._state = self._stack.pop()

    def transform(self, operands: Any) -> None:
        self._state = replace(self._state, matrix=_product(_matrix(operands), self._state.matrix))

    def graphics_state(self, operands: Any) -> None:
        state = self._resource("/ExtGState", operands[0])
        if "/ca" in state:
            self._state = replace(self._state, alpha=float(state["/ca"]))

    def fill_colour(self, operands: Any) -> None:
        parts = [float(part) for part in operands if not isinstance(part, NameObject)]
        self._state = replace(self._state, fill=_luminance(parts) if len(parts) == len(operands) else None)

    def other_colour_space(self, operands: Any) -> None:
        is_device_space = str(operands[0]) in ("/DeviceGray", "/DeviceRGB", "/DeviceCMYK")
        self._state = replace(self._state, fill=0.0 if is_device_space else None)

    def begin_text(self, _: Any) -> None:
        self._text = self._line = _IDENTITY

    def font(self, operands: Any) -> None:
        self._state = replace(self._state, size=float(operands[1]))

    def mode(self, operands: Any) -> None:
        self._state = replace(self._state, mode=int(operands[0]))

    def leading(self, operands: Any) -> None:
        self._state = replace(self._state, leading=float(operands[0]))

    def text_matrix(self, operands: Any) -> None:
        self._text = self._line = _matrix(operands)

    def move(self, operands: Any) -> None:
        self._line = _product((1, 0, 0, 1, float(operands[0]), float(operands[1])), self._line)
        self._text = self._line

    def move_and_lead(self, operands: Any) -> None:
        self.leading([-float(operands[1])])
        self.move(operands)

    def next_line(self, _: Any) -> None:
        self.move([0, -self._state.leading])

    def rectangle(self, operands: Any) -> None:
        x, y, width, height = (float(part) for part in operands)
        self._path += [(x, y), (x + width, y + height), (x + width, y), (x, y + height)]

    def points(self, operands: Any) -> None:
        numbers = [float(part) for part in operands]
        self._path += list(zip(numbers[::2], numbers[1::2], strict=False))

    def fill(self, _: Any) -> None:
        self._cover(self._path, self._state.fill if self._state.alpha > _MIN_ALPHA else WHITE)
        self._path = []

    def end_path(self, _: Any) -> None:
        self._path = []

    def shading(self, _: Any) -> None:
        left, bottom, right, top = self._layout.box
        self._layout.areas.append(_Area(left, bottom, right, top, None))

    def inline_picture(self, _: Any) -> None:
        self._picture()

    def _picture(self) -> None:
        self._layout.has_picture = True
        self._cover([(0, 0), (1, 1), (1, 0), (0, 1)], None)

    def draw(self, operands: Any) -> None:
        form = self._resource("/XObject", operands[0])
        if form.get("/Subtype") == "/Image":
            self._picture()
        elif self._depth < _MAX_DEPTH:
            matrix = _product(_matrix(form.get("/Matrix", _IDENTITY)), self._state.matrix)
            state = replace(self._state, matrix=matrix)
            resources = form.get("/Resources", self._resources)
            text = _split(self._page, form, resources, self._layout, state, self._depth + 1)
            if text.strip():
                self.hidden_texts.append(text)

    def _resource(self, kind: str, name: Any) -> Any:
        return self._resources[kind].get_object()[name].get_object()

    def _cover(self, points: Sequence[tuple[float, float]], colour: float | None) -> None:
        if points:
            placed = [_product((1, 0, 0, 1, x, y), self._state.matrix)[4:] for x, y in points]
            xs, ys = [x for x, _ in placed], [y for _, y in placed]
            self._layout.areas.append(_Area(min(xs), min(ys), max(xs), max(ys), colour))


_MIN_ALPHA = 0.05
_MARGIN = 2.0

_HANDLERS = {
    b"q": _Reader.save,
    b"Q": _Reader.restore,
    b"cm": _Reader.transform,
    b"gs": _Reader.graphics_state,
    **dict.fromkeys((b"g", b"rg", b"k", b"sc", b"scn"), _Reader.fill_colour),
    b"cs": _Reader.other_colour_space,
    b"BT": _Reader.begin_text,
    b"Tf": _Reader.font,
    b"Tr": _Reader.mode,
    b"TL": _Reader.leading,
    b"Tm": _Reader.text_matrix,
    b"Td": _Reader.move,
    b"TD": _Reader.move_and_lead,
    b"T*": _Reader.next_line,
    b"re": _Reader.rectangle,
    **dict.fromkeys((b"m", b"l", b"c", b"v", b"y"), _Reader.points),
    **dict.fromkeys((b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"), _Reader.fill),
    **dict.fromkeys((b"n", b"s", b"S"), _Reader.end_path),
    b"sh": _Reader.shading,
    b"INLINE IMAGE": _Reader.inline_picture,
    b"Do": _Reader.draw,
}


def _matrix(operands: Any) -> Matrix:
    a, b, c, d, e, f = (float(part) for part in operands)
    return a, b, c, d, e, f


def _product(first: Matrix, second: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _scale(matrix: Matrix) -> float:
    """Return by how much the matrix stretches the height of letters."""
    return float((matrix[2] ** 2 + matrix[3] ** 2) ** 0.5)


def _luminance(parts: Sequence[float]) -> float | None:
    """Return the luminance of a colour in grey, RGB or CMYK."""
    match len(parts):
        case 1:
            return luminance(parts[0], parts[0], parts[0])
        case 3:
            return luminance(*parts)
        case 4:
            cyan, magenta, yellow, black = parts
            return luminance(*((1 - ink) * (1 - black) for ink in (cyan, magenta, yellow)))
    return None
