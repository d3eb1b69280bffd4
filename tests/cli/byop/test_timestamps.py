"""Time stamps of the audit log: the request that `byop audit` writes, and the answer of a local authority."""

import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from salvo.playbooks.store.store import EvaluationStore
from tests.support.stored_evaluations import NAMES, Byop, finish_evaluation

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, the local authority, is not here")

CONFIG = """\
[tsa]
default_tsa = local
[local]
serial = {folder}/serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384
accuracy = secs:1
ess_cert_id_alg = sha256
[stamping]
extendedKeyUsage = critical,timeStamping
"""


class Authority:
    """A certificate authority, and a time stamp authority that it vouches for."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.ca = folder / "ca.pem"
        (folder / "config").write_text(CONFIG.format(folder=folder))
        (folder / "serial").write_text("01\n")
        new = ("req", "-new", "-newkey", "rsa:2048", "-nodes", "-config", "/dev/null")
        self.openssl(*new, "-x509", "-days", "30", "-subj", "/CN=Local CA", "-keyout", "ca.key", "-out", "ca.pem")
        self.openssl(*new, "-subj", "/CN=Local TSA", "-keyout", "tsa.key", "-out", "tsa.csr")
        issue = ("x509", "-req", "-days", "30", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", "7")
        extensions = ("-extfile", "config", "-extensions", "stamping")
        self.openssl(*issue, *extensions, "-in", "tsa.csr", "-out", "tsa.pem")

    def openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def answer(self, request: Path, response: Path) -> None:
        signer = ("-signer", "tsa.pem", "-inkey", "tsa.key")
        files = ("-queryfile", str(request.absolute()), "-out", str(response.absolute()))
        self.openssl("ts", "-reply", "-config", "config", *signer, *files)


@pytest.fixture
def authority(folder: Path) -> Authority:
    return Authority(folder / "authority")


@pytest.fixture
def stamped(run: Byop, store: EvaluationStore, authority: Authority) -> Authority:
    """The log of an evaluation, and a time stamp of it in head.tsr."""
    finish_evaluation(store, NAMES[0])
    assert run("audit", "--timestamp-request", "head.tsq").exit_code == 0
    authority.answer(Path("head.tsq"), Path("head.tsr"))
    return authority


def test_the_request_is_for_the_newest_hash(run: Byop, stamped: Authority) -> None:
    shown = subprocess.run(["openssl", "ts", "-query", "-in", "head.tsq", "-text"], check=True, capture_output=True)
    text = shown.stdout.decode()
    assert "Hash Algorithm: sha256" in text
    assert "Certificate required: yes" in text
    assert run("audit", "--head").stdout.strip().removeprefix("sha256:") in Path("head.tsq").read_bytes().hex()


def test_a_time_stamp_of_a_trusted_authority_anchors_the_log(
    run: Byop, stamped: Authority, store: EvaluationStore
) -> None:
    number = store.audit_log()[-1].sequence
    store.set_baseline(NAMES[0])
    shown = run("verify", "--timestamp", "head.tsr", "--timestamp-ca", str(stamped.ca))
    assert shown.exit_code == 0
    assert f"Entry {number} of the audit log is anchored by TSA CN=Local TSA at 20" in shown.stdout


def test_a_log_without_the_stamped_hash_is_detected(run: Byop, stamped: Authority, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "byop_runs.db")) as database:
        database.execute("DELETE FROM byop_audit WHERE sequence = (SELECT max(sequence) FROM byop_audit)")
        database.commit()
    shown = run("verify", "--timestamp", "head.tsr", "--timestamp-ca", str(stamped.ca))
    assert (shown.exit_code, "no entry has it: the audit log was rebuilt or truncated" in shown.stdout) == (1, True)


def test_a_time_stamp_of_another_authority_or_an_altered_one_anchors_nothing(
    run: Byop, stamped: Authority, folder: Path
) -> None:
    stranger = Authority(folder / "stranger")
    shown = run("verify", "--timestamp", "head.tsr", "--timestamp-ca", str(stranger.ca))
    assert (shown.exit_code, "is not a valid time stamp of an authority in" in shown.stdout) == (1, True)
    content = Path("head.tsr").read_bytes()
    digest = bytes.fromhex(run("audit", "--head").stdout.strip().removeprefix("sha256:"))
    Path("forged.tsr").write_bytes(content.replace(digest, bytes(32)))
    shown = run("verify", "--timestamp", "forged.tsr", "--timestamp-ca", str(stamped.ca))
    assert (shown.exit_code, "is not a valid time stamp" in shown.stdout) == (1, True)


def test_what_is_no_time_stamp_or_was_refused_ends_with_2(run: Byop, stamped: Authority, folder: Path) -> None:
    ca = str(stamped.ca)
    assert run("verify", "--timestamp", "head.tsr").exit_code == 2
    assert run("verify", "--timestamp-ca", ca).exit_code == 2
    assert run("verify", "--timestamp", "nowhere.tsr", "--timestamp-ca", ca).exit_code == 2
    assert run("verify", "--timestamp", "head.tsq", "--timestamp-ca", ca).exit_code == 2
    assert run("verify", "--timestamp", "head.tsr", "--timestamp-ca", "head.tsr").exit_code == 2
    stamped.openssl("ts", "-query", "-data", "config", "-sha512", "-out", "other.tsq")
    stamped.answer(stamped.folder / "other.tsq", folder / "refused.tsr")
    refused = run("verify", "--timestamp", "refused.tsr", "--timestamp-ca", ca)
    assert (refused.exit_code, "did not grant the time stamp" in refused.stderr) == (2, True)
    for length in range(0, 200, 9):
        Path("cut.tsr").write_bytes(Path("head.tsr").read_bytes()[:length])
        assert run("verify", "--timestamp", "cut.tsr", "--timestamp-ca", ca).exit_code == 2


def test_a_damaged_time_stamp_is_a_sentence(run: Byop, stamped: Authority) -> None:
    content = Path("head.tsr").read_bytes()
    chance = random.Random(14)
    for _ in range(150):
        damaged = bytearray(content)
        damaged[chance.randrange(len(content))] ^= chance.randrange(1, 256)
        Path("damaged.tsr").write_bytes(damaged)
        shown = run("verify", "--timestamp", "damaged.tsr", "--timestamp-ca", str(stamped.ca))
        assert "anchor" in shown.stdout or shown.stderr.startswith(("Error: damaged.tsr is", "Error: The authority"))


def test_without_the_package_the_hint_names_the_extra(
    run: Byop, stamped: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rfc3161_client", None)
    monkeypatch.delitem(sys.modules, "salvo.playbooks.audit.timestamp_response", raising=False)
    refused = run("verify", "--timestamp", "head.tsr", "--timestamp-ca", str(stamped.ca))
    assert (refused.exit_code, "pip install '.[timestamps]'" in refused.stderr) == (2, True)
