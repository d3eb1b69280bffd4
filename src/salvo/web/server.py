"""The uvicorn server. Jobs and API keys exist in this one process only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI

from salvo.errors import UsageError
from salvo.web.services import Services

SHUTDOWN_SECONDS = 3
"""For responses that are in progress when the server is stopped."""


class Server(uvicorn.Server):
    """Reports its port, and ends the evaluations before the connections that watch them."""

    def __init__(self, app: FastAPI, host: str, port: int, on_ready: Callable[[int], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                host=host,
                port=port,
                log_config=None,
                log_level="warning",
                access_log=False,  # a URL may contain the token
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="on",
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        self._salvo_app = app
        self._on_ready = on_ready

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready(self.servers[0].sockets[0].getsockname()[1])

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        services: Services = self._salvo_app.state.services
        services.closing.set()
        await services.jobs.close()
        await super().shutdown(sockets)


def serve(app: FastAPI, host: str, port: int, on_ready: Callable[[int], None]) -> None:
    """Serve until stopped. Raise UsageError if the address cannot be used."""
    server = Server(app, host, port, on_ready)
    try:
        server.run()
    except SystemExit as error:
        if server.started:
            raise
        raise UsageError(
            f"The server cannot listen on {host}, port {port}.",
            hint="Another program may be using it. Choose another port with --port; 0 takes a free one.",
        ) from error
