"""The built page: its files with caching, and the page itself at every address outside the API."""

from __future__ import annotations

from pathlib import Path, PurePath

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

INDEX = "index.html"
ASSETS = "assets"
"""Files whose names change with their content."""
MISSING = (
    "The page is not part of this installation, because Node was missing when it was built. With Node 20.19 or newer, "
    "`make serve` builds it in a checkout, and `make dist` builds packages that contain it. The API works without it."
)


def is_built(static: Path) -> bool:
    return (static / INDEX).is_file()


class PageFiles(StaticFiles):
    def __init__(self, static: Path) -> None:
        super().__init__(directory=static, check_dir=False)
        self._static = static

    async def check_config(self) -> None:
        """Accept a missing folder: `get_response` explains how to build the page."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        if f"{scope['path']}/".startswith("/api/"):
            raise HTTPException(404)
        folder = PurePath(path).parts[:1]
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404 or folder == (ASSETS,):
                raise
            if not is_built(self._static):
                return HTMLResponse(f"<!doctype html><title>Salvo</title><p>{MISSING}</p>", 503)
            response = await super().get_response(INDEX, scope)
        hashed = folder == (ASSETS,)
        response.headers["cache-control"] = "public, max-age=31536000, immutable" if hashed else "no-cache"
        return response
