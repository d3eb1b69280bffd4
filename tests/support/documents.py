"""Files as offices make them, small."""

import io

import docx
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject


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


def written(writer: PdfWriter) -> bytes:
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()
