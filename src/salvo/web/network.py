"""The addresses of this machine, and Unix sockets that only their owner can use."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

from salvo.engine.text.unicode_escape import printable
from salvo.errors import UsageError

_SOMEWHERE = (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6))
"""Addresses for documentation, which nobody has. They are not contacted."""


def is_wildcard(host: str) -> bool:
    """Return whether a server that listens there is reached at every address of the machine."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return host == ""


def own_addresses() -> list[str]:
    """Return the addresses and the name at which other machines may reach this one, the likeliest first."""
    name = socket.gethostname().lower()
    addresses: list[str] = []
    for somewhere, family in _SOMEWHERE:
        # Connecting a datagram socket sends nothing: it only selects the address that packets would come from.
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((somewhere, 9))
            addresses.append(str(probe.getsockname()[0]))
    with suppress(OSError):
        addresses += [str(info[4][0]) for info in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]
    reachable = [address for address in addresses if not ip_address(address.partition("%")[0]).is_loopback]
    # A link-local address needs a zone, which is another on every machine.
    usable = [address for address in reachable if not ip_address(address.partition("%")[0]).is_link_local]
    return [*dict.fromkeys(usable), *([name] if name and name != "localhost" else [])]


@contextmanager
def unix_socket(path: Path) -> Iterator[socket.socket]:
    """Listen at the path, for this user only, and remove the socket at the end."""
    name = printable(str(path))
    if not hasattr(socket, "AF_UNIX"):
        raise UsageError("This system has no Unix sockets.", hint="Leave out --unix-socket.")
    _remove_stale(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # Not chmod afterwards: others could connect in between.
        previous = os.umask(0o177)
        try:
            listening.bind(os.fspath(path))
        finally:
            os.umask(previous)
        created = path.stat().st_ino
    except OSError as error:
        listening.close()
        raise UsageError(
            f"The server cannot listen on {name}: {error.strerror or error}.",
            hint="Choose a path in a folder that you can write; it can have about 100 characters.",
        ) from error
    try:
        yield listening
    finally:
        listening.close()
        with suppress(OSError):
            if path.stat().st_ino == created:
                path.unlink()


def _remove_stale(path: Path) -> None:
    """Remove the socket of a server that was killed. Raise UsageError if it is something else."""
    name = printable(str(path))
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"The server cannot listen on {name}: {error.strerror}.") from error
    if not stat.S_ISSOCK(mode):
        raise UsageError(f"{name} exists and is not a socket.", hint="Choose another path.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(os.fspath(path))
        except ConnectionRefusedError:
            path.unlink()
        except OSError as error:
            raise UsageError(f"{name} cannot be used: {error.strerror}.", hint="Choose another path.") from error
        else:
            raise UsageError(f"Another server is listening on {name}.", hint="Stop it, or choose another path.")


_LINGER_NOT = struct.pack("HH" if sys.platform == "win32" else "ii", 1, 0)
"""The option SO_LINGER: on, for zero seconds."""


def reset(transport: asyncio.Transport) -> None:
    """Close a connection at once. Otherwise the kernel would keep what the client does not read."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
    transport.abort()
