"""The structure of Word and PDF files beside their text, read by the worker process."""

import io

import pytest
from docx.oxml import parse_xml
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, NameObject

from salvo.engine.sandbox.outline.docx_numbering import Numbering
from salvo.engine.sandbox.outline.items import MAX_ITEMS, OutlineItem, from_rows, to_rows
from salvo.playbooks.evaluate.text_files import FileText, read_text_file
from tests.support.byop_project import CERTAIN
from tests.support.documents import pdf, structured_word_file, word_file, written

_NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def _parts(file: FileText, *kinds: str) -> list[tuple[object, ...]]:
    """Return the items of these kinds: level, label and text."""
    return [(item.level, item.label, file.text[item.start : item.end]) for item in file.outline if item.kind in kinds]


def test_headings_lists_tables_and_pages_of_a_word_file() -> None:
    file = read_text_file("contract.docx", structured_word_file())
    assert _parts(file, "heading") == [
        (1, "", "Agreement"),
        (1, "", "1 Scope"),
        (1, "", "2 Liability"),
        (2, "", "Closing"),
    ]
    assert _parts(file, "list_item") == [
        (0, "1.", "Notice in writing"),
        (0, "2.", "Notice by post"),
        (0, "•", "A bullet"),
    ]
    cells = [
        (item.table, item.row, item.column, file.text[item.start : item.end])
        for item in file.outline
        if item.kind == "cell"
    ]
    assert cells == [(1, 1, 1, "Party"), (1, 1, 2, "Fee"), (1, 2, 1, "Acme"), (1, 2, 2, "100 euros")]
    pages = [(item.level, file.text[item.start :].split(".")[0]) for item in file.outline if item.kind == "page"]
    assert pages == [(1, file.text.split(".")[0]), (2, CERTAIN.split(".")[0])]


def test_the_text_of_a_word_file_is_the_same_with_and_without_structure() -> None:
    file = read_text_file("plain.docx", word_file("", "One.", "", "Two."))
    assert file.text == "One.\n\nTwo."
    assert _parts(file, "paragraph") == [(0, "", "One."), (0, "", "Two.")]
    assert not _parts(file, "page"), "the file does not say where its pages begin"


def test_numbers_follow_their_formats_levels_and_restarts() -> None:
    def level(index: int, number_format: str, text: str) -> str:
        return (
            f'<w:lvl w:ilvl="{index}"><w:start w:val="1"/><w:numFmt w:val="{number_format}"/>'
            f'<w:lvlText w:val="{text}"/></w:lvl>'
        )

    levels = level(0, "decimal", "%1.") + level(1, "lowerLetter", "(%2)") + level(2, "upperRoman", "%1.%3")
    numbering = Numbering(
        parse_xml(
            f'<w:numbering {_NAMESPACE}><w:abstractNum w:abstractNumId="0">{levels}{level(3, "chicago", "%4")}'
            '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
            '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/>'
            "</w:lvlOverride></w:num></w:numbering>"
        )
    )
    labels = [numbering.next_label("1", depth) for depth in (0, 1, 1, 2, 0, 1)]
    assert labels == ["1.", "(a)", "(b)", "1.I", "2.", "(a)"]
    assert numbering.next_label("2", 0) == "5.", "a list that begins again"
    assert numbering.next_label("1", 3) == "", "a format that is not known"
    assert numbering.next_label("9", 0) == "", "a list that is not defined"


def test_pages_and_bookmarks_of_a_pdf() -> None:
    content = pdf("1 Scope\nThis is about Acme.", "More of it.\n2 Liability\nLiability is limited.")
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(content)))
    parent = writer.add_outline_item("1  Scope", 0)
    writer.add_outline_item("2 Liability", 1, parent=parent)
    writer.add_outline_item("Not on the page", 1)
    file = read_text_file("contract.pdf", written(writer))
    assert _parts(file, "heading") == [(1, "", "1 Scope"), (2, "", "2 Liability")]
    pages = [(item.level, file.text[item.start :].split("\n")[0]) for item in file.outline if item.kind == "page"]
    assert pages == [(1, "1 Scope"), (2, "More of it.")]


def test_bookmarks_that_lead_to_themselves_are_read_once() -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("1 Scope\nText."))))
    item = writer.add_outline_item("1 Scope", 0).get_object()
    assert isinstance(item, DictionaryObject)
    assert item.indirect_reference is not None
    item[NameObject("/Next")] = item.indirect_reference
    item[NameObject("/First")] = item.indirect_reference
    assert _parts(read_text_file("loop.pdf", written(writer)), "heading") == [(1, "", "1 Scope")]


def test_a_hostile_word_file_gives_a_bounded_outline() -> None:
    file = read_text_file("many.docx", word_file(*["x"] * (MAX_ITEMS // 10)))
    assert len(file.outline) <= MAX_ITEMS
    items = [OutlineItem("paragraph", 0, 1)] * (MAX_ITEMS + 5)
    assert len(from_rows(to_rows(items), 1)) == MAX_ITEMS


def test_an_outline_outside_of_its_text_is_refused() -> None:
    with pytest.raises(ValueError, match="not within the text"):
        from_rows([["heading", 3, 9]], 5)
