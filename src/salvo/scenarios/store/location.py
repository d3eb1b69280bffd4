"""Where a store is: in `.salvo/` of the project, or at an address that a command or SALVO_STORE names.

An address is a folder, or the URL of an object store. The project's files cannot name one: a project may come from
someone else, who would get every run.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from functools import lru_cache
from pathlib import Path

from salvo.engine.runtime.files import make_folder, unwritable
from salvo.engine.text.messages import install_hint
from salvo.errors import UsageError
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.backends.base import Storage
from salvo.scenarios.store.store import RunStore

STORE_VARIABLE = "SALVO_STORE"
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://(?P<rest>.*)", re.DOTALL)
_OBJECT_STORES = ("s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss")
_ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")
"""Variables by which a URL means another server, and so another store."""
_SERVER = re.compile(r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:/[^\s?#]*)?")


def open_store(project: Project) -> RunStore:
    """Return the store of a project. Nothing is written, and no connection is opened yet."""
    address = project.store_address
    if not address:
        return RunStore(project.store)
    match = _SCHEME.fullmatch(address)
    if match is None:
        return RunStore(project.cwd / Path(address).expanduser())
    if match["scheme"].lower() == "file":
        return RunStore(_folder(address, match["rest"]))
    _check(address, match)
    _check_endpoints(match["scheme"].lower())
    endpoint = _endpoint()
    return RunStore(_local_folder(address, endpoint), _object_storage(address, endpoint))


def open_existing(address: str, cwd: Path) -> RunStore:
    """Return the store at an address, or in a project's folder. Raise UsageError if there is no such folder."""
    if _SCHEME.fullmatch(address):
        return open_store(Project(cwd, cwd, store_address=address))
    folder = cwd / address
    for candidate in (folder / ".salvo", folder):
        if (candidate / "batches").is_dir() or (candidate / "recordings").is_dir():
            return RunStore(candidate)
    raise UsageError(f"There is no store in {address}.", hint="Name the folder .salvo of a project, or its copy.")


def store_notice(store: RunStore) -> str:
    """Return the line that says where runs will be written, before the first is; empty for a folder."""
    if not store.is_shared:
        return ""
    endpoint = _endpoint()
    return f"Runs are stored in {store.address}{f' at {endpoint}' if endpoint else ''}."


def _folder(address: str, rest: str) -> Path:
    if not rest.startswith("/"):
        raise UsageError(
            f"{address} is not the URL of a folder on this machine.",
            hint="Write file:///folder with three slashes, or just the folder.",
        )
    return Path(rest)


def _check(address: str, match: re.Match[str]) -> None:
    if match["scheme"].lower() not in _OBJECT_STORES:
        raise UsageError(
            f"{match['scheme']}:// is not an address that runs can be stored at.",
            hint="Use a folder, or s3://bucket/prefix, gs://bucket/prefix or az://container/prefix.",
        )
    host = match["rest"].partition("/")[0]
    if "@" in host or any(character in address for character in "?#"):
        raise UsageError(
            "The address of a store contains neither credentials nor parameters.",
            hint="Credentials come from the environment, such as AWS_ACCESS_KEY_ID or a role of the machine.",
        )
    if not host or any(part in ("", ".", "..") for part in match["rest"].rstrip("/").split("/")):
        raise UsageError(f"{address} is not the address of a store.", hint="It looks like s3://bucket/prefix.")


def _check_endpoints(scheme: str) -> None:
    """Raise UsageError for a variable that names no server: the library would end with a traceback."""
    provider = {"s3": "AWS_", "s3a": "AWS_", "gs": "GOOGLE_"}.get(scheme, "AZURE_")
    for name in _ENDPOINTS:
        value = os.environ.get(name)
        if name.startswith(provider) and value is not None and not _SERVER.fullmatch(value):
            raise UsageError(
                f"The variable {name} is not the URL of a server.",
                hint="It looks like http://127.0.0.1:9000. Unset it to use the provider's own.",
            )


@lru_cache
def _object_storage(address: str, _endpoint: str) -> Storage:
    """Return the storage at a URL: one per process, so that it knows which batches the process holds."""
    try:
        from salvo.scenarios.store.backends.objects import ObjectStorage  # an optional dependency, and heavy
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "obstore":
            raise
        raise UsageError(
            f"{address} is in an object store, for which the package obstore is not installed.",
            hint=install_hint("object-store"),
        ) from None
    return ObjectStorage(address)


def _endpoint() -> str:
    return next((value for name in _ENDPOINTS if (value := os.environ.get(name))), "")


def _local_folder(address: str, endpoint: str) -> Path:
    """Return the folder of this user for what is derived from an object store, and create it for its owner alone."""
    name = hashlib.sha256(f"{endpoint} {address}".encode()).hexdigest()[:32]
    folder = _cache_folder() / "salvo" / "stores" / name
    try:
        make_folder(folder)
    except OSError as error:
        raise unwritable(folder, error) from error
    return folder


def _cache_folder() -> Path:
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return Path(folder)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
