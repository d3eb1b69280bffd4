"""The HTTP client as we load it, for those who use it beside us: in a process of its own, as ours has it already."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.provider import LoopbackProvider, Say

BESIDE_US = """
import asyncio, ssl, sys

from salvo.engine.wire.trust import load_client

load_client()
load_client()  # a second time is no harm

import aiohttp

async def ask():
    async with aiohttp.ClientSession(trust_env=False) as session:
        for verify in map(bool, map(int, sys.argv[2:])):
            try:
                async with session.get(sys.argv[1], ssl=verify) as response:
                    print(response.status)
            except aiohttp.ClientConnectorCertificateError as fault:
                print(type(fault).__name__)

asyncio.run(ask())
print(ssl.create_default_context().cert_store_stats()["x509"])
"""


def asked_beside_us(url: str, trusted: Path, *verify: int) -> list[str]:
    environ = {**os.environ, "SSL_CERT_FILE": str(trusted), "SSL_CERT_DIR": str(trusted.parent / "none")}
    command = [sys.executable, "-c", BESIDE_US, url, *map(str, verify)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_who_uses_the_client_beside_us_trusts_what_this_machine_trusts() -> None:
    with LoopbackProvider(Say("hi"), tls=True) as provider:
        assert asked_beside_us(provider.url, provider.ca_file, 1, 1, 0) == ["404", "404", "404", "1"]


def test_who_uses_the_client_beside_us_trusts_nobody_else(tmp_path: Path) -> None:
    (tmp_path / "nobody.pem").touch()
    with LoopbackProvider(Say("hi"), tls=True) as provider:
        answers = asked_beside_us(provider.url, tmp_path / "nobody.pem", 1, 0)
    assert answers == ["ClientConnectorCertificateError", "404", "0"]
