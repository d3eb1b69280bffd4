"""The HTTP client, loaded without the certificates of this machine: whoever needs them first has them read.

aiohttp makes two TLS contexts when it is imported, and reads every trusted certificate for each of them: nearly half of
the time that loading it takes, also where nothing speaks TLS. We never use the two, as an https address has a context
of the wire's own; but others in this process may, such as a user's adapter. They miss nothing: it is read when used.
"""

from __future__ import annotations

import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def load_client() -> None:
    if "aiohttp" in sys.modules:
        return
    with _reading_later():
        import aiohttp  # noqa: F401 - to be there when it is needed


@contextmanager
def _reading_later() -> Iterator[None]:
    """Contexts that are made meanwhile, by whomever, read their certificates when they are first used."""

    reading = ssl.SSLContext.set_default_verify_paths

    def later(self: ssl.SSLContext) -> None:
        if type(self) is ssl.SSLContext:
            self.__class__ = _Unread
        else:  # somebody's own kind, which must stay what it is
            reading(self)

    ssl.SSLContext.set_default_verify_paths = later  # type: ignore[method-assign]  # for as long as the import takes
    try:
        yield
    finally:
        ssl.SSLContext.set_default_verify_paths = reading  # type: ignore[method-assign]  # as it was


class _Unread(ssl.SSLContext):
    """Until it is used. Used without its certificates it would trust nobody, and never everybody."""

    def wrap_bio(self, *arguments: Any, **named: Any) -> ssl.SSLObject:
        return _read(self).wrap_bio(*arguments, **named)

    def wrap_socket(self, *arguments: Any, **named: Any) -> ssl.SSLSocket:
        return _read(self).wrap_socket(*arguments, **named)


def _read(context: ssl.SSLContext) -> ssl.SSLContext:
    context.set_default_verify_paths()
    context.__class__ = ssl.SSLContext  # only now: another thread may use it at the same time
    return context
