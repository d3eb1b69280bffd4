"""Signatures: a file proves who signed it, by itself."""

import base64
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from salvo.errors import InputError
from salvo.playbooks.audit import integrity, signatures, signing
from salvo.playbooks.audit.head_key import default_key_file
from salvo.playbooks.report.report_document import Signature


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    return tmp_path / "settings" / "key.pem"


TYPE = "application/vnd.byop.report+json"


def test_signed_bytes_are_verified_with_the_public_key_alone(key_file: Path) -> None:
    key = signing.new_key(key_file)
    signature = key.sign(TYPE, b"a report")
    assert (signature.algorithm, signature.public_key, signature.payload_type) == ("ed25519", key.public, TYPE)
    assert signatures.signs_bytes(b"a report", signature)
    assert signing.read_key(key_file).public == key.public


def test_whatever_is_changed_breaks_the_signature(key_file: Path, tmp_path: Path) -> None:
    signature = signing.new_key(key_file).sign(TYPE, b"a report")
    other = signing.new_key(tmp_path / "other.pem")
    assert not signatures.signs_bytes(b"a report\n", signature)
    for changed in (
        replace(signature, public_key=other.public),
        replace(signature, public_key="nonsense"),
        replace(signature, value="nonsense"),
        replace(signature, value=base64.b64encode(bytes(64)).decode()),
        replace(signature, value=f" {signature.value}"),
        replace(signature, payload_type="application/vnd.byop.report+html"),
        replace(signature, payload_type=None),
        Signature("ed25519", "", "", TYPE),
    ):
        assert not signatures.signs_bytes(b"a report", changed)


def test_the_encoding_is_that_of_dsse() -> None:
    """The example of the DSSE specification."""
    encoded = integrity.pre_authentication_encoding("http://example.com/HelloWorld", b"hello world")
    assert encoded == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_base64_that_is_not_the_one_form_of_its_bytes_is_refused(key_file: Path) -> None:
    signature = signing.new_key(key_file).sign(TYPE, b"a report")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = letters[letters.index(signature.value[-3]) + 1]  # the bits that are dropped in decoding
    changed = f"{signature.value[:-3]}{last}=="
    assert base64.b64decode(changed) == base64.b64decode(signature.value)
    assert not signatures.signs_bytes(b"a report", replace(signature, value=changed))


def test_a_key_is_for_its_owner_alone_and_is_never_overwritten(key_file: Path) -> None:
    signing.new_key(key_file)
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(key_file.parent.stat().st_mode) == 0o700
    content = key_file.read_bytes()
    with pytest.raises(InputError, match="never overwritten"):
        signing.new_key(key_file)
    assert key_file.read_bytes() == content


def test_a_key_is_never_shown(key_file: Path) -> None:
    key = signing.new_key(key_file)
    assert repr(key) == f"SigningKey(public='{key.public}')"


def test_a_key_that_others_can_read_is_refused(key_file: Path) -> None:
    signing.new_key(key_file)
    key_file.chmod(0o640)
    with pytest.raises(InputError, match="can be read by other users") as refused:
        signing.read_key(key_file)
    assert refused.value.hint == f"chmod 600 {key_file}"


def test_openssl_reads_our_keys_and_we_read_its(tmp_path: Path, key_file: Path) -> None:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    key = signing.new_key(key_file)
    public = load_pem_private_key(key_file.read_bytes(), None).public_key()
    pem = tmp_path / "public.pem"
    pem.write_bytes(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    assert signing.read_public_key(str(pem)) == key.public


def test_a_public_key_is_given_by_itself_or_in_a_file(tmp_path: Path, key_file: Path) -> None:
    key = signing.new_key(key_file)
    text = tmp_path / "public.txt"
    text.write_text(f"{key.public}\n")
    assert signing.read_public_key(key.public) == key.public
    assert signing.read_public_key(str(text)) == key.public


def test_what_is_no_key_is_refused_with_a_sentence(tmp_path: Path, key_file: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
    )

    other = generate_private_key(SECP256R1())
    files = {
        "notes": b"not a key",
        "binary": b"\xff\xfe",
        "another kind": other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        "with a password": other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o600)
        with pytest.raises(InputError, match="is not an unencrypted Ed25519 private key"):
            signing.read_key(tmp_path / name)
        with pytest.raises(InputError, match="is not a public key"):
            signing.read_public_key(str(tmp_path / name))
    public = tmp_path / "public"
    public.write_bytes(other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    with pytest.raises(InputError, match="is not an Ed25519 key"):
        signing.read_public_key(str(public))
    with pytest.raises(InputError) as missing:
        signing.read_key(Path("nowhere.pem"))
    assert str(missing.value) == snapshot(
        "nowhere.pem cannot be read: No such file or directory. `byop keys new` creates a key and prints its location."
    )
    with pytest.raises(InputError, match="cannot be written"):
        signing.new_key(tmp_path / "notes" / "key.pem")


def test_the_key_has_its_place_in_the_folder_for_settings(tmp_path: Path) -> None:
    home = Path("/home/she")
    assert default_key_file({}, home) == home / ".config/salvo/byop-signing-key.pem"
    assert default_key_file({"XDG_CONFIG_HOME": "relative"}, home).is_relative_to(home)
    assert default_key_file({"XDG_CONFIG_HOME": "/etc/xdg"}, home) == Path("/etc/xdg/salvo/byop-signing-key.pem")


def test_the_cryptography_is_loaded_only_to_sign_or_verify() -> None:
    code = "import sys, salvo.cli.byop.signing_key, salvo.playbooks.audit.verification.verify; print('cryptography' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert shown.stdout == "False\n"
