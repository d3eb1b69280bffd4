"""The text of a file, and what becomes of files that are made to harm."""

import asyncio
import io
import sys
import zipfile
from pathlib import Path

import docx
import pytest
from fastapi import Request
from pypdf import PdfWriter

from salvo.engine.sandbox import document_text, docx_operations, pdf_operations
from salvo.errors import SalvoError
from salvo.web import security
from salvo.web.disconnection import while_connected
from salvo.web.routes import documents
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
        "latin.txt": b"\xe4pfel",
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
        "contract.exe": "Files of type “.exe” cannot be read.",
        "no_suffix": "Files of type “no_suffix” cannot be read.",
        "latin.txt": "The file is not UTF-8: byte 0 is invalid.",
        "not.pdf": "The file is not a readable PDF.",
        "cut.pdf": "The file is not a readable PDF.",
        "scanned.pdf": "The file contains no text. It may be a scan.",
        "encrypted.pdf": "The file is encrypted and needs a password.",
        "thick.pdf": "The file has 2,001 pages; at most 2,000 are allowed.",
        "not.docx": "The file is not a readable .docx.",
        "old.docx": "The file is encrypted, or in the old .doc format.",
        "empty.docx": "The file contains no text. It may be a scan.",
        "other.docx": "The file is not a readable .docx.",
    }


async def test_a_zip_bomb_is_not_unpacked(api: Client) -> None:
    bomb = _zip({"word/document.xml": b"0" * (20 * 1024 * 1024)})
    assert len(bomb) * docx_operations.MAX_UNPACKED_RATIO < 20 * 1024 * 1024
    reply = await _read(api, "bomb.docx", bomb)
    assert (reply.status, reply.json()["error"]["message"]) == (422, "The file becomes too large when it is unpacked.")


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
    monkeypatch.setattr(documents, "TIMEOUT_SECONDS", 0.01)
    reply = await _read(api, "contract.pdf", pdf(*SENTENCES))
    assert (reply.status, reply.json()["error"]["message"]) == (422, "Reading the file takes too long.")


async def test_a_file_that_is_too_large_gets_413(api: Client) -> None:
    reply = await _read(api, "large.txt", b"x" * (security.MAX_DOCUMENT_BYTES + 1))
    assert (reply.status, reply.code) == (413, "too_large")


async def _read(api: Client, name: str, content: bytes) -> Reply:
    return await api.ask("POST", f"/api/documents?name={name}", content, content_type="application/octet-stream")


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
    assert list(pdf_operations.read({}, pdf(*SENTENCES))) == [{"text": "\n\n".join(SENTENCES), "pages": 2}]
    assert list(docx_operations.read({}, _packed(_document()))) == [{"text": SENTENCES[0], "pages": None}]
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
