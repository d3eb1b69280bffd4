"""The text of a file, and what becomes of files that are made to harm."""

import asyncio
import hashlib
import io
import sys
import urllib.parse
import zipfile
from pathlib import Path

import docx
import pytest
from fastapi import Request
from inline_snapshot import snapshot
from pypdf import PdfWriter

from salvo.engine.sandbox import document_text, docx_operations, pdf_operations
from salvo.errors import SalvoError
from salvo.playbooks.evaluate import text_files
from salvo.web import security
from salvo.web.disconnection import while_connected
from tests.support.documents import pdf, written
from tests.support.web import Client, Reply

SENTENCES = ["1. Liability is limited.", "2. German law applies."]


@pytest.fixture
def api(shared_api: Client) -> Client:
    return shared_api


async def test_a_text_file_is_its_text(api: Client) -> None:
    for name, content in {
        "a.txt": "Äpfel\r\n".encode(),
        "A.MD": "\ufeffÄpfel\r\n".encode(),
        "b.txt": "Äpfel\r\n".encode("utf-16"),
    }.items():
        assert (await _read(api, name, content)).json()["text"] == "Äpfel\r\n"


async def test_a_word_file_is_read_in_the_order_of_the_document(api: Client) -> None:
    document = docx.Document()
    document.add_paragraph(SENTENCES[0])
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Cap", "100 €"
    run = document.add_paragraph(SENTENCES[1]).add_run()
    run.add_tab()
    run.add_text("§ 307")
    found = (await _read(api, "contract.docx", _packed(document))).json()
    assert found["text"].split("\n") == [SENTENCES[0], "Cap", "100 €", f"{SENTENCES[1]}\t§ 307"]
    assert found["pages"] is None


async def test_a_pdf_with_text_is_read_page_by_page(api: Client) -> None:
    found = (await _read(api, "contract.pdf", pdf(*SENTENCES))).json()
    assert (found["text"], found["pages"]) == ("\n\n".join(SENTENCES), 2)


async def test_a_file_that_cannot_be_read_is_a_sentence(api: Client) -> None:
    encrypted = PdfWriter(clone_from=io.BytesIO(pdf("x")))
    encrypted.encrypt("password", algorithm="AES-256")
    refused = {
        "contract.exe": b"MZ",
        "no_suffix": b"",
        "binary.txt": b"\0\xe4pfel",
        "cut.txt": b"\xff\xfea",
        "not.pdf": b"hello",
        "cut.pdf": pdf(*SENTENCES)[:200],
        "scanned.pdf": pdf(""),
        "encrypted.pdf": written(encrypted),
        "thick.pdf": pdf(*[""] * 2_001),
        "not.docx": b"hello",
        "old.docx": b"\xd0\xcf\x11\xe0" + b"\0" * 600,
        "empty.docx": _packed(docx.Document()),
        "other.docx": _zip({"a.txt": b"x"}),
    }
    said = {}
    for name, content in refused.items():
        reply = await _read(api, name, content)
        assert (reply.status, reply.code) == (422, "invalid_input"), name
        said[name] = reply.json()["error"]["message"]
    assert said == {
        "contract.exe": "contract.exe was not read: its name has another ending.",
        "no_suffix": "no_suffix was not read: its name has another ending.",
        "binary.txt": "binary.txt is not UTF-8: byte 1 (0xe4) is invalid there, and it is not Windows-1252 either.",
        "cut.txt": "cut.txt is not UTF-16, though it begins like it: byte 2 is invalid.",
        "not.pdf": "not.pdf was not read. The file is not a readable PDF.",
        "cut.pdf": "cut.pdf was not read. The file is not a readable PDF.",
        "scanned.pdf": "scanned.pdf was not read. The file contains no text. It may be a scan.",
        "encrypted.pdf": "encrypted.pdf was not read. The file is encrypted and needs a password.",
        "thick.pdf": "thick.pdf was not read. The file has 2,001 pages; at most 2,000 are allowed.",
        "not.docx": "not.docx was not read. The file is not a readable .docx.",
        "old.docx": "old.docx was not read. The file is encrypted, or in the old .doc format.",
        "empty.docx": "empty.docx was not read. The file contains no text. It may be a scan.",
        "other.docx": "other.docx was not read. The file is not a readable .docx.",
    }


async def test_a_zip_bomb_is_not_unpacked(api: Client) -> None:
    bomb = _zip({"word/document.xml": b"0" * (20 * 1024 * 1024)})
    assert len(bomb) * docx_operations.MAX_UNPACKED_RATIO < 20 * 1024 * 1024
    reply = await _read(api, "bomb.docx", bomb)
    assert (reply.status, reply.json()["error"]["message"]) == (
        422,
        "bomb.docx was not read. The file becomes too large when it is unpacked.",
    )


def test_an_archive_that_declares_too_much_is_refused_whatever_its_own_size() -> None:
    with zipfile.ZipFile(io.BytesIO(_zip({"word/document.xml": b"0"}))) as archive:
        archive.infolist()[0].file_size = docx_operations.MAX_UNPACKED_BYTES + 1
        with pytest.raises(document_text.UnreadableDocumentError, match="too large when it is unpacked"):
            docx_operations._check_archive(archive, 100 * 1024 * 1024)


async def test_entities_that_multiply_are_not_followed(api: Client) -> None:
    laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    document = f'<!DOCTYPE w [<!ENTITY a0 "ha">{laughs}]><w xmlns="w">&a11;</w>'.encode()
    content = _packed(docx.Document(), {"word/document.xml": document})
    assert (await _read(api, "laughs.docx", content)).status == 422


async def test_a_reader_that_does_not_come_to_an_end_is_ended(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "TIMEOUT_SECONDS", 0.01)
    reply = await _read(api, "contract.pdf", pdf(*SENTENCES))
    assert (reply.status, reply.json()["error"]["message"]) == (
        422,
        "contract.pdf was not read. Reading the file takes too long.",
    )


async def test_a_file_that_is_too_large_gets_413(api: Client) -> None:
    reply = await _read(api, "large.txt", b"x" * (security.MAX_DOCUMENT_BYTES + 1))
    assert (reply.status, reply.code) == (413, "too_large")


async def test_windows_1252_is_offered_and_read_only_when_asked_for(api: Client) -> None:
    content = "One line.\r\nThe fee is 5 € – “net”.\r\n".encode("cp1252")
    refused = await _read(api, "memo.txt", content)
    assert (refused.status, refused.code) == (422, "not_utf8")
    assert refused.json()["error"]["message"] == (
        "memo.txt is not UTF-8: byte 24 (0x80) is invalid there. "
        "It could be Windows-1252, which would be “The fee is 5 € – “net”.” there."
    )
    document = (await _read(api, "memo.txt", content, encoding="windows-1252")).json()
    assert (document["text"], document["encoding"]) == (content.decode("cp1252"), "windows-1252")
    [notice] = document["notices"]
    assert notice.startswith("memo.txt is not UTF-8, so it was read as Windows-1252. This is an assumption: ")
    # What is UTF-8 is UTF-8, and nothing is assumed.
    document = (await _read(api, "memo.txt", "5 €".encode(), encoding="windows-1252")).json()
    assert (document["text"], document["encoding"], document["notices"]) == ("5 €", "utf-8", [])


async def test_running_headers_footers_and_page_numbers_of_a_pdf_are_not_text_and_are_named(api: Client) -> None:
    pages = [
        f"ACME Ltd - strictly confidential\nReview of the DPA\n{number}. Clause {number} is unlimited.\n"
        f"Fee {number + 1} may be changed.\nPage {number} of 4"
        for number in (1, 2, 3, 4)
    ]
    document = (await _read(api, "memo.pdf", pdf(*pages))).json()
    assert document["text"] == "\n\n".join(
        f"{number}. Clause {number} is unlimited.\nFee {number + 1} may be changed." for number in (1, 2, 3, 4)
    )
    assert document["notices"] == snapshot(
        [
            "Lines repeated at the top or bottom of the pages of memo.pdf are not part of the text: “ACME Ltd - strictly confidential”, on 4 pages; “Review of the DPA”, on 4 pages.",
            "Page numbers of memo.pdf are not part of the text: “Page 1 of 4” and so on, on 4 pages.",
        ]
    )


async def test_headers_footers_and_notes_of_a_word_file_are_not_text_and_are_named(api: Client) -> None:
    document = _document()
    document.sections[0].header.paragraphs[0].text = "ACME Ltd"
    document.sections[0].footer.paragraphs[0].text = "Page 1"
    document.add_comment(document.paragraphs[0].runs, "Is this so?", author="A")
    reply = (await _read(api, "memo.docx", _packed(document))).json()
    assert reply["text"] == SENTENCES[0]
    assert reply["notices"] == snapshot(
        [
            "Headers of memo.docx are not part of the text: “ACME Ltd”.",
            "Footers of memo.docx are not part of the text: “Page 1”.",
            "Comments of memo.docx are not part of the text: “Is this so?”.",
        ]
    )


async def _read(api: Client, name: str, content: bytes, **query: str) -> Reply:
    parameters = urllib.parse.urlencode({"name": name, **query})
    return await api.ask("POST", f"/api/documents?{parameters}", content, content_type="application/octet-stream")


def _packed(document: docx.document.Document, changed: dict[str, bytes] | None = None) -> bytes:
    file = io.BytesIO()
    document.save(file)
    if not changed:
        return file.getvalue()
    with zipfile.ZipFile(file) as whole:
        return _zip({name: whole.read(name) for name in whole.namelist()} | changed)


def _zip(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return made.getvalue()


async def test_a_document_is_read_without_our_keys(
    api: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment, interpreter = tmp_path / "environment", tmp_path / "python"
    interpreter.write_text(f'#!/bin/sh\n/usr/bin/env > {environment}\nexec {sys.executable} "$@"\n')
    interpreter.chmod(0o755)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-planted")
    monkeypatch.setattr(sys, "executable", str(interpreter))
    for name, content in {"contract.pdf": pdf(*SENTENCES), "contract.docx": _packed(_document())}.items():
        assert SENTENCES[0] in (await _read(api, name, content)).json()["text"]
        assert "planted" not in environment.read_text()


def _document() -> docx.document.Document:
    document = docx.Document()
    document.add_paragraph(SENTENCES[0])
    return document


def test_the_readers_that_a_worker_runs() -> None:
    """Here, because the coverage of a worker is not measured: it has no environment that would ask for it."""
    assert list(pdf_operations.read({}, pdf(*SENTENCES))) == [
        {
            "text": "\n\n".join(SENTENCES),
            "pages": 2,
            "omissions": [],
            "outline": [["page", 0, 0, 1], ["page", 26, 26, 2]],
        }
    ]
    assert list(docx_operations.read({}, _packed(_document()))) == [
        {"text": SENTENCES[0], "pages": None, "omissions": [], "outline": [["paragraph", 0, 24]]}
    ]
    for operations in (pdf_operations, docx_operations):
        [answer] = operations.read({}, b"hello")
        assert "is not a readable" in answer["problem"]
    assert next(iter(docx_operations.read({}, b"\xd0\xcf\x11\xe0")))["problem"].startswith("The file is encrypted")
    assert next(iter(pdf_operations.read({}, pdf(""))))["problem"].startswith("The file contains no text")
    assert "has 2,001 pages" in next(iter(pdf_operations.read({}, pdf(*[""] * 2_001))))["problem"]


async def test_a_client_that_leaves_ends_the_reading() -> None:
    cancelled = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    with pytest.raises(SalvoError, match="closed the connection"):
        await while_connected(Request({"type": "http"}, receive), work())
    assert cancelled.is_set()


async def test_a_file_that_seems_to_hold_a_credential_gets_a_warning_without_its_value(api: Client) -> None:
    key = "AKIA0123456789ABCDEF"
    document = (await _read(api, "a.txt", f"one\n  {key}".encode())).json()
    assert document["warning"].startswith("The file may contain an AWS access key at line 2, column 3.")
    assert key not in document["warning"]
    assert (await _read(api, "a.txt", b"one")).json()["warning"] is None


async def test_a_report_has_the_hash_of_the_file_only_if_the_server_read_it_and_the_text_is_unchanged(
    api: Client,
) -> None:
    document = (await _read(api, "memo.docx", _packed(_document()))).json()
    hashes = {"ai_output": document["sha256"]}
    text = document["text"]
    typed = _sha256(text.encode())
    for evaluated, file_hashes, recorded in [
        (text, hashes, document["sha256"]),
        (text, {}, typed),
        (text, {"ai_output": _sha256(b"a file that was not read")}, typed),
        (f"{text} Edited.", hashes, _sha256(f"{text} Edited.".encode())),
    ]:
        report = (await api.report(evaluated, file_hashes=file_hashes))["report"]
        assert report["integrity"]["raw_inputs"] == {"ai_output": recorded}
        identity = report["document_identity"] or {}
        assert identity.get("file_name") == ("memo.docx" if recorded == document["sha256"] else None)
        assert identity.get("file_sha256") == (recorded if recorded == document["sha256"] else None)


async def test_a_report_says_what_was_assumed_about_an_uploaded_file(api: Client) -> None:
    content = "Die Gebühr beträgt 5 €. ".encode("cp1252") * 10
    document = (await _read(api, "memo.txt", content, encoding="windows-1252")).json()
    [notice] = document["notices"]
    uploaded = await api.report(document["text"], file_hashes={"ai_output": document["sha256"]})
    assert uploaded["report"]["input_notices"] == [notice]
    typed = await api.report(document["text"])
    assert typed["report"]["input_notices"] == []


def _sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
