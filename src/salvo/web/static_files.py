"""The built page: files with caching, and the page itself at every address that is not the API's."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

from salvo.web.services import ServicesDep

router = APIRouter(include_in_schema=False)

INDEX = "index.html"
ASSETS = "assets"
"""Files whose name changes with their content."""
MISSING = (
    "The page is not in this installation, because there was no Node when it was built. With Node 20.19 or newer, "
    "`make serve` builds it in a checkout, and `make dist` makes packages that have it. The API works without it."
)


def is_built(static: Path) -> bool:
    return (static / INDEX).is_file()


@router.api_route("/{path:path}", methods=["GET", "HEAD"])
def page(path: str, request: Request, at: ServicesDep) -> Response:
    if path == "api" or path.startswith("api/"):
        raise HTTPException(404)
    static = at.settings.static
    file = _inside(static, path)
    if file is None:
        if path.startswith(f"{ASSETS}/"):
            raise HTTPException(404)
        if not is_built(static):
            return HTMLResponse(f"<!doctype html><title>Salvo</title><p>{MISSING}</p>", 503)
        file = static / INDEX
    loaded = _loaded(file, file.stat().st_mtime_ns)
    for_ever = file.parent.name == ASSETS
    headers = {
        "cache-control": "public, max-age=31536000, immutable" if for_ever else "no-cache",
        "etag": loaded.etag,
        "vary": "accept-encoding",
    }
    if request.headers.get("if-none-match") == loaded.etag:
        return Response(status_code=304, headers=headers)
    content = loaded.content
    if loaded.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        content = loaded.packed
    return Response(content, media_type=loaded.kind, headers=headers)


def _inside(static: Path, path: str) -> Path | None:
    """The file of that name, if it is one of the page's."""
    if not path or "\0" in path:
        return None
    file = (static / path).resolve()
    return file if file.is_relative_to(static.resolve()) and file.is_file() else None


class _Loaded(NamedTuple):
    content: bytes
    packed: bytes | None
    kind: str
    etag: str


@lru_cache(maxsize=256)
def _loaded(file: Path, _changed: int) -> _Loaded:
    content = file.read_bytes()
    packed = gzip.compress(content, mtime=0)
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return _Loaded(content, packed if len(packed) < len(content) * 0.9 else None, kind, etag)
