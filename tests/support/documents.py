"""Files as offices make them, small."""

import io
from collections.abc import Mapping
from typing import Any

import docx
from docx.oxml import OxmlElement
from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, NumberObject, PdfObject


def word_file(*paragraphs: str) -> bytes:
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def pdf(*pages: str) -> bytes:
    """A page with its lines of text each; without a line, a page that only a picture could be on."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for lines in pages:
        page = writer.add_blank_page(595, 842)
        if lines:
            text = DecodedStreamObject()
            shown = " 0 -16 Td ".join(f"({_escaped(line)}) Tj" for line in lines.split("\n"))
            text.set_data(f"BT /F1 12 Tf 72 720 Td {shown} ET".encode("latin-1"))
            page[NameObject("/Contents")] = text
            page[NameObject("/Resources")] = DictionaryObject(
                {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
            )
    return written(writer)


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def pdf_page(content: str, form: str = "") -> bytes:
    """A page of these operations, with the font F1, a picture, a transparent state Clear, and a form."""
    writer = PdfWriter()
    page = writer.add_blank_page(595, 842)
    page[NameObject("/Contents")] = _stream(content)
    fonts = {
        "/F1": {"/Type": NameObject("/Font"), "/Subtype": NameObject("/Type1"), "/BaseFont": NameObject("/Helvetica")}
    }
    picture = _stream("\0", Type="/XObject", Subtype="/Image", ColorSpace="/DeviceGray")
    picture.update({NameObject(f"/{name}"): NumberObject(value) for name, value in _PICTURE.items()})
    drawn = _stream(form, Type="/XObject", Subtype="/Form")
    drawn[NameObject("/BBox")] = ArrayObject(NumberObject(side) for side in (0, 0, 595, 842))
    drawn[NameObject("/Resources")] = _dictionary({"/Font": fonts})
    page[NameObject("/Resources")] = _dictionary(
        {
            "/Font": fonts,
            "/ExtGState": {"/Clear": {"/ca": NumberObject(0)}},
            "/XObject": {"/Picture": picture, "/Form": drawn},
        }
    )
    return written(writer)


_PICTURE = {"Width": 1, "Height": 1, "BitsPerComponent": 8}


def _stream(content: str, **names: str) -> DecodedStreamObject:
    stream = DecodedStreamObject()
    stream.set_data(content.encode("latin-1"))
    stream.update({NameObject(f"/{key}"): NameObject(value) for key, value in names.items()})
    return stream


def _dictionary(content: Mapping[str, Any]) -> DictionaryObject:
    return DictionaryObject(
        {
            NameObject(key): value if isinstance(value, PdfObject) else _dictionary(value)
            for key, value in content.items()
        }
    )


def written(writer: PdfWriter) -> bytes:
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def structured_word_file() -> bytes:
    """A contract with numbered headings, a list, a table, and a page break as Word notes it."""
    document = docx.Document()
    document.add_heading("Agreement", level=0)
    for number, (title, clauses) in enumerate(
        {
            "Scope": ["This agreement is between Acme and Beta."],
            "Liability": ["Liability is limited to the fees.", "Clause 7 is fully compliant with the GDPR."],
        }.items(),
        start=1,
    ):
        document.add_heading(f"{number} {title}", level=1)
        for clause in clauses:
            document.add_paragraph(clause)
    document.paragraphs[-1].runs[0]._r.insert(0, OxmlElement("w:lastRenderedPageBreak"))
    document.add_paragraph("Notice in writing", style="List Number")
    document.add_paragraph("Notice by post", style="List Number")
    document.add_paragraph("A bullet", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        (cell for row in table.rows for cell in row.cells), ("Party", "Fee", "Acme", "100 euros"), strict=True
    ):
        cell.text = text
    document.add_heading("Closing", level=2)
    document.add_paragraph("Signed by both parties.")
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()
