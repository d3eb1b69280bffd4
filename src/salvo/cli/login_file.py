"""Files with secrets of the server: the token of programs, the secret for the OIDC provider, and the page that opens a
browser logged in."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from datetime import datetime
from html import escape
from pathlib import Path

from salvo.engine.runtime.clock import Clock
from salvo.engine.text.unicode_escape import printable
from salvo.errors import UsageError
from salvo.web.sessions import CODE_LIFETIME, random_token

SHORTEST_TOKEN = 32
_LARGEST_TOKEN_FILE = 4096
_FOLDER_PREFIX = "salvo-login-"


def load_token(file: Path | None, environment_token: str | None) -> str | None:
    """Return the token of programs, from the file or the environment; None if there is none."""
    if file is None:
        return None if not environment_token else _check(environment_token, "The environment variable SALVO_TOKEN")
    if environment_token:
        raise UsageError("SALVO_TOKEN and --token-file both give a token.", hint="Use one of them.")
    token, name = random_token(), printable(str(file))
    try:
        write_private(file, f"{token}\n")
    except FileExistsError:
        advice = "Delete it, and a new token is written; or make it yours with chown and chmod 600."
        return _check(read_private(file, "token", advice), name)
    except OSError as error:
        raise UsageError(f"{name} cannot be written: {error.strerror}.", hint="Choose another file.") from error
    return token


def read_private(file: Path, what: str, advice: str) -> str:
    """Return the text of a file that nobody else can read. UsageError otherwise, with the advice how to make it so."""
    name = printable(str(file))
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, encoding="utf-8") as opened:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(f"{name} is not a regular file.", hint=f"Choose another file for the {what}.")
            if os.name == "posix" and (status.st_mode & 0o077 or status.st_uid != os.geteuid()):
                raise UsageError(f"{name} is not yours alone, so its {what} may be known to others.", hint=advice)
            return opened.read(_LARGEST_TOKEN_FILE).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise UsageError(f"The {what} in {name} cannot be read: {reason}.", hint="Choose another file.") from error


def _check(token: str, source: str) -> str:
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"{source} has no usable token: it needs at least {SHORTEST_TOKEN} ASCII characters without spaces.",
            hint="--token-file with a new file makes one.",
        )
    return token


def write_private(file: Path, content: str) -> None:
    """Create a file that only this user can read. Raise FileExistsError if there is one, or a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8") as opened:
        opened.write(content)


class RedirectFile:
    """A page on disk that leads the browser to an address with a login code.

    The browser's command line has the path of this file, and so neither the code nor the token is in a process list.
    """

    def __init__(self, clock: Clock) -> None:
        runtime = os.environ.get("XDG_RUNTIME_DIR", "")
        parent = runtime if os.access(runtime, os.W_OK) else tempfile.gettempdir()
        _remove_expired(Path(parent), clock.now() - CODE_LIFETIME)
        self._folder = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX, dir=parent))
        self.path = self._folder / "open.html"

    def write(self, address: str) -> None:
        target = escape(address, quote=True)
        write_private(
            self.path,
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="referrer" content="no-referrer">\n'
            f'<meta http-equiv="refresh" content="0;url={target}">\n<title>Salvo</title>\n'
            f'<p>Opening Salvo … If nothing happens, follow <a href="{target}">this link</a>.</p>\n</html>\n',
        )

    def remove(self) -> None:
        with suppress(OSError):
            shutil.rmtree(self._folder)


def _remove_expired(parent: Path, oldest: datetime) -> None:
    """Remove the files of servers that were killed. Their codes have expired, even if such a server still runs."""
    for folder in parent.glob(f"{_FOLDER_PREFIX}*"):
        with suppress(OSError):
            status = folder.lstat()
            is_own = os.name != "posix" or status.st_uid == os.geteuid()
            if is_own and stat.S_ISDIR(status.st_mode) and status.st_mtime < oldest.timestamp():
                shutil.rmtree(folder)
