"""Web addresses that a user typed."""

from __future__ import annotations

import re
import urllib.parse
from ipaddress import ip_address


def is_web_address(url: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_encrypted_or_loopback(url: str) -> bool:
    """Return whether what is sent there cannot be read on the way: https, or http on this machine."""
    if not is_web_address(url):
        return False
    parts = urllib.parse.urlsplit(url)
    if parts.username is not None or parts.password is not None:
        return False
    return parts.scheme == "https" or parts.hostname == "localhost" or _is_loopback_ip(parts.hostname or "")


def _is_loopback_ip(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def host_name(url: str) -> str:
    return urllib.parse.urlsplit(url).hostname or ""


def without_version(base_url: str) -> str:
    """Return a base URL without /v1, which may be given or not."""
    return re.sub(r"(/v1)*/*$", "", base_url)


def split_origin(url: str) -> tuple[str, str]:
    """Return the scheme, host and port of a URL, and its path with the query."""
    parts = urllib.parse.urlsplit(url)
    path = urllib.parse.urlunsplit(("", "", parts.path, parts.query, ""))
    return f"{parts.scheme}://{parts.netloc}", path


def without_password(url: str) -> str:
    """Return a URL without its user and password."""
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
