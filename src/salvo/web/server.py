"""The one process that serves: jobs and keys live in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI

from salvo.errors import UsageError
from salvo.web.services import Services

LAST_WORDS = 3
"""Seconds for answers that are under way when the server is stopped."""


class Server(uvicorn.Server):
    """Says where it listens, and ends what it evaluates before it ends the connections that watch it."""

    def __init__(self, app: FastAPI, host: str, port: int, on_ready: Callable[[int], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                host=host,
                port=port,
                log_config=None,
                log_level="warning",
                access_log=False,  # an address may hold the token
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="on",
                timeout_graceful_shutdown=LAST_WORDS,
            )
        )
        self._served = app
        self._on_ready = on_ready

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready(self.servers[0].sockets[0].getsockname()[1])

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        services: Services = self._served.state.services
        services.closing.set()
        await services.jobs.close()
        await super().shutdown(sockets)


def serve(app: FastAPI, host: str, port: int, on_ready: Callable[[int], None]) -> None:
    """Until it is stopped; UsageError where nothing can listen there."""
    server = Server(app, host, port, on_ready)
    try:
        server.run()
    except SystemExit as gone:
        if server.started:
            raise
        raise UsageError(
            f"Nothing can listen on {host}, port {port}.",
            hint="Another program may: name another port with --port, or 0 for any that is free.",
        ) from gone
