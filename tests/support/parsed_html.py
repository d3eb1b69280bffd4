"""HTML as a browser would parse it."""

from html.parser import HTMLParser

Attributes = list[tuple[str, str | None]]


class ParsedHtml(HTMLParser):
    """The elements of a page in order, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, Attributes]] = []
        self.text = ""
        self.by_element: dict[str, list[str]] = {}
        self._open: list[tuple[str, str]] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        self.elements.append((tag, attrs))
        if tag != "meta":
            self._open.append((tag, self.text))

    def handle_endtag(self, tag: str) -> None:
        opened, before = self._open.pop()
        assert opened == tag
        self.by_element.setdefault(tag, []).append(self.text[len(before) :])

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"the page has a comment: {data}")

    def structure(self) -> list[tuple[str, Attributes]]:
        """Return the elements without the marks of invisible characters."""
        return [element for element in self.elements if element != ("span", [("class", "odd")])]

    def values(self, attribute: str) -> list[str]:
        return [value or "" for _, attrs in self.elements for key, value in attrs if key == attribute]
