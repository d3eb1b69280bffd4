"""A real PostgreSQL server, started once per session if its binaries are installed. Each test gets its own database."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

_numbers = count(1)


class Postgres:
    """`url()` creates a database and returns its address."""

    def __init__(self, folder: Path, user: str) -> None:
        self._folder = folder
        self._user = user

    def url(self, like: str = "template0") -> str:
        """Create a database as a copy of the one named `like`, and return its address."""
        name = f"byop_{next(_numbers)}"
        dsn = f"host={self._folder} user={self._user} dbname=postgres"
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {like}")
        return f"postgresql+psycopg://{self._user}@/{name}?host={self._folder}"


def binaries() -> Path | None:
    """Return the folder with initdb and postgres, found by PATH or pg_config, or None."""
    on_path = shutil.which("initdb")
    if on_path and shutil.which("postgres"):
        return Path(on_path).resolve().parent
    config = shutil.which("pg_config")
    if config is None:
        return None
    folder = Path(subprocess.run([config, "--bindir"], capture_output=True, text=True, check=True).stdout.strip())
    return folder if (folder / "initdb").exists() and (folder / "postgres").exists() else None


@contextmanager
def running() -> Iterator[Postgres]:
    """Start a server on a socket in a short path (the limit is 107 bytes), without syncing: nothing is kept."""
    binary_folder = binaries()
    assert binary_folder is not None
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as name:
        folder = Path(name)
        user = _server_user()
        if user is not None:
            os.chown(folder, user.pw_uid, user.pw_gid)
        data = folder / "data"
        subprocess.run(
            [
                binary_folder / "initdb",
                "-D",
                data,
                "-U",
                "byop",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--no-sync",
                "--locale=C",
            ],
            check=True,
            capture_output=True,
            cwd="/",
            user=user and user.pw_uid,
            group=user and user.pw_gid,
            extra_groups=user and [],
        )
        settings = [
            "fsync=off",
            "full_page_writes=off",
            "synchronous_commit=off",
            "listen_addresses=",
            "max_connections=60",
        ]
        server = subprocess.Popen(
            [
                binary_folder / "postgres",
                "-D",
                data,
                "-k",
                folder,
                *(part for setting in settings for part in ("-c", setting)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            user=user and user.pw_uid,
            group=user and user.pw_gid,
            extra_groups=user and [],
        )
        try:
            _wait_until_ready(server)
            yield Postgres(folder, "byop")
        finally:
            server.send_signal(signal.SIGINT)  # "fast": without waiting for those still connected
            server.communicate()


def _wait_until_ready(server: "subprocess.Popen[bytes]") -> None:
    assert server.stderr is not None
    output = b""
    for line in server.stderr:
        output += line
        if b"ready to accept connections" in line:
            return
    raise AssertionError(output.decode())


def _server_user() -> pwd.struct_passwd | None:
    """Return an unprivileged user if the tests run as root, which PostgreSQL refuses; otherwise None."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise AssertionError("PostgreSQL does not run as root, and there is no user to run it as.")
