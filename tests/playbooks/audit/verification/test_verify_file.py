"""Report files: one meaning, and a signature over every byte."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from salvo.errors import InputError
from salvo.playbooks.audit import signing
from salvo.playbooks.audit.report_file import PAYLOAD_TYPES, add_signature, parse_json
from salvo.playbooks.audit.signing import SigningKey
from salvo.playbooks.audit.verification import verify_file
from salvo.playbooks.audit.verification.finding import VerificationState
from salvo.playbooks.report.export import json as report_json
from tests.support.playbooks import a_report, masked

OLDER = (Path(__file__).parent / "files" / "signed_over_content.json").read_bytes()
"""A file that a version before byte signatures wrote and signed."""
OLDER_KEY = "9Gh2h7kW4GGXXcggcJRtxopjgTHXG1PPmyZFdIrab24="


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    return signing.new_key(tmp_path / "key.pem")


def unsigned(**changes: Any) -> bytes:
    return report_json.render(a_report(**changes)).encode()


def edited(content: bytes, edit: Callable[[Any], object]) -> bytes:
    document = json.loads(content)
    edit(document)
    return json.dumps(document, indent=2).encode() + b"\n"


def signature_state(content: bytes, public_key: str | None) -> VerificationState:
    return verify_file.json_file(parse_json(content, "report.json"), public_key=public_key)[1].standing


def test_a_file_holds_by_itself(tmp_path: Path, key: SigningKey) -> None:
    other = signing.new_key(tmp_path / "other.pem")
    signed = add_signature(unsigned(), ".json", key)
    cut = edited(signed, lambda document: document["byop_report"].update(limitations=[]))

    def said(content: bytes, public_key: str | None = None) -> list[str]:
        found = verify_file.json_file(parse_json(content, "report.json"), public_key=public_key)
        return [
            masked(f"{part.standing} {part.part}: {part.message}")
            .replace(key.public, "KEY")
            .replace(other.public, "OTHER")
            for part in found
        ]

    assert {
        "unsigned": said(unsigned()),
        "unsigned, and a key was named": said(unsigned(), key.public),
        "signed": said(signed),
        "signed by whom we expect": said(signed, key.public),
        "signed by another": said(signed, other.public),
        "signed and altered": said(cut, key.public),
        "signed by an earlier version": said(OLDER, OLDER_KEY),
    } == snapshot(
        {
            "unsigned": [
                "holds report: The report matches the hash that it names: sha256:….",
                "unknown signature: The file is not signed: whoever could change it could also have recomputed its hashes.",
            ],
            "unsigned, and a key was named": [
                "holds report: The report matches the hash that it names: sha256:….",
                "not_signed signature: The file is not signed, neither with the key that you named nor with another.",
            ],
            "signed": [
                "holds report: The report matches the hash that it names: sha256:….",
                "holds signature: The signature is valid for the key KEY. It covers every byte of the file. The owner of that key is not known: name the key that you expect with --public-key.",
            ],
            "signed by whom we expect": [
                "holds report: The report matches the hash that it names: sha256:….",
                "holds signature: The file was signed with the key that you named: KEY. It covers every byte of the file.",
            ],
            "signed by another": [
                "holds report: The report matches the hash that it names: sha256:….",
                "other_key signature: The file was signed with a different key: KEY, not OTHER. No audit log here shows that the one replaced the other.",
            ],
            "signed and altered": [
                "altered report: The report was altered: its hash is sha256:…, but it names sha256:….",
                "altered signature: The signature of the key KEY is invalid: the file or the signature was altered.",
            ],
            "signed by an earlier version": [
                "holds report: The report matches the hash that it names: sha256:….",
                "holds signature: The file was signed with the key that you named: 9Gh2h7kW4GGXXcggcJRtxopjgTHXG1PPmyZFdIrab24=. It was signed by an earlier version of Salvo, whose signature covers the content of the report, not the bytes of the file.",
            ],
        }
    )


def test_the_signature_covers_every_byte_of_a_file(key: SigningKey) -> None:
    signed = add_signature(unsigned(), ".json", key)
    assert signature_state(signed, key.public) is VerificationState.HOLDS
    for changed in (
        signed + b"\n",
        b" " + signed,
        signed.replace(b'"byop_report": {', b'"byop_report":  {'),
        json.dumps(json.loads(signed), indent=2).encode(),
        json.dumps(json.loads(signed)).encode(),
        signed.replace(b'"signature": {', b'"signature":{'),
    ):
        assert changed != signed
        assert json.loads(changed) == json.loads(signed)
        assert signature_state(changed, key.public) is VerificationState.ALTERED


def test_taking_the_signature_out_gives_the_unsigned_file(key: SigningKey) -> None:
    signed = add_signature(unsigned(), ".json", key)
    assert parse_json(signed, "report.json").payload == unsigned()
    assert json.loads(signed)["signature"]["payload_type"] == PAYLOAD_TYPES[".json"]


@pytest.mark.parametrize("content", [OLDER, None], ids=["earlier version", "this version"])
def test_a_file_that_could_be_read_in_two_ways_is_refused(content: bytes | None, key: SigningKey) -> None:
    signed = content or add_signature(unsigned(), ".json", key)
    forged = edited(signed, lambda document: document["byop_report"]["summary"].update(overall_status="STABLE"))
    inner = forged.decode().partition('"byop_report": ')[2].rpartition(',\n  "signature"')[0].encode()

    def refusal(changed: bytes) -> str:
        with pytest.raises(InputError) as refused:
            parse_json(changed, "report.json")
        return re.sub(r"\d{4,}", "N", str(refused.value))  # places in the file

    assert {
        "forged first": refusal(signed.replace(b"{\n", b'{"byop_report": ' + inner + b",\n", 1)),
        "forged last": refusal(signed.rstrip().removesuffix(b"}") + b', "byop_report": ' + inner + b"}"),
        "deep inside": refusal(signed.replace(b'"overall_status":', b'"overall_status": "STABLE", "overall_status":')),
        "same key, escaped": refusal(signed.replace(b'"summary":', b'"\\u0073ummary": {}, "summary":')),
        "extra field": refusal(edited(signed, lambda document: document.update(note="approved"))),
        "extra field inside": refusal(
            edited(signed, lambda document: document["byop_report"]["check_results"][0].update(note="approved"))
        ),
        "two values": refusal(signed + forged),
        "more text": refusal(signed + b"approved"),
        "NaN": refusal(signed.replace(b'"threshold_ok": ', b'"threshold_ok": NaN, "x": ')),
        "too large": refusal(signed.replace(b'"threshold_ok": ', b'"threshold_ok": 1e999, "x": ')),
        "byte order mark": refusal(b"\xef\xbb\xbf" + signed),
        "another encoding": refusal(signed.decode().encode("utf-16")),
    } == snapshot(
        {
            "forged first": 'report.json is not a report file: it has the key "byop_report" twice in one object.',
            "forged last": 'report.json is not a report file: it has the key "byop_report" twice in one object.',
            "deep inside": 'report.json is not a report file: it has the key "overall_status" twice in one object.',
            "same key, escaped": 'report.json is not a report file: it has the key "summary" twice in one object.',
            "extra field": "report.json has the field note, which a report of this version does not have. Either it was added to the file, or a newer version of Salvo wrote it.",
            "extra field inside": "report.json has the field byop_report.check_results[0].note, which a report of this version does not have. Either it was added to the file, or a newer version of Salvo wrote it.",
            "two values": "report.json is not a report file: it has more than one JSON value: the second begins after character N.",
            "more text": "report.json is not a report file: it has more text after its end, at character N.",
            "NaN": "report.json is not a report file: NaN is not a number in JSON.",
            "too large": "report.json is not a report file: 1e999 is too large for a number.",
            "byte order mark": "report.json is not a report file: it begins with a byte order mark.",
            "another encoding": "report.json is not a report file: it is not UTF-8 at byte 0.",
        }
    )


def test_an_older_file_written_by_another_tool_has_the_same_content() -> None:
    spaced = json.dumps(json.loads(OLDER), indent=4, sort_keys=True).replace(": 1.0", ": 1").encode()
    assert signature_state(spaced, OLDER_KEY) is VerificationState.HOLDS
    altered = edited(OLDER, lambda document: document["byop_report"].update(limitations=[]))
    assert signature_state(altered, OLDER_KEY) is VerificationState.ALTERED


def test_a_signature_over_bytes_cannot_pass_for_an_older_one(key: SigningKey) -> None:
    signed = add_signature(unsigned(), ".json", key)
    older = edited(signed, lambda document: document["signature"].pop("payload_type"))
    assert signature_state(older, key.public) is VerificationState.ALTERED
    newer = edited(OLDER, lambda document: document["signature"].update(payload_type=PAYLOAD_TYPES[".json"]))
    assert signature_state(newer, OLDER_KEY) is VerificationState.ALTERED


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"byop_report": {}}', b"\xff", b"[" * 100_000])
def test_what_is_no_report_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match=r"report\.json is not"):
        parse_json(content, "report.json")


@pytest.mark.parametrize("suffix", [".html", ".md", ".xml"])
def test_a_document_is_signed_at_its_end(suffix: str, key: SigningKey) -> None:
    content = b"<p>a report</p>\n"
    path = Path(f"report{suffix}")
    signed = add_signature(content, suffix, key)

    def state(changed: bytes, name: Path = path, public_key: str | None = key.public) -> VerificationState:
        return verify_file.document_file(changed, name, public_key=public_key)[0].standing

    assert signed.startswith(content)
    assert state(signed) is VerificationState.HOLDS
    assert state(content) is VerificationState.NOT_SIGNED
    assert state(content, public_key=None) is VerificationState.UNKNOWN
    assert state(signed.replace(b"a report", b"a rep0rt")) is VerificationState.ALTERED
    assert state(b"<p>first</p>" + signed) is VerificationState.ALTERED
    assert state(signed + b"<p>approved</p>") is VerificationState.NOT_SIGNED
    assert state(signed, Path("report.html" if suffix == ".md" else "report.md")) is VerificationState.CONTRADICTED
    with pytest.raises(InputError, match="not written as Salvo writes it"):
        state(signed.replace(b'{"algorithm"', b'{ "algorithm"'))
    with pytest.raises(InputError, match="cannot be read"):
        state(content + b"<!-- byop-signature {} -->\n")
