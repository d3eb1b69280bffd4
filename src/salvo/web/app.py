"""The FastAPI application with its store, jobs and routes, and the server that runs it.

Several servers may share a database. API keys that were typed exist in this one process only.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import Depends, FastAPI
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.openapi.utils import get_openapi

from salvo import __version__
from salvo.engine.runtime.clock import Clock, SystemClock
from salvo.engine.text.unicode_escape import printable
from salvo.errors import UsageError
from salvo.playbooks.audit.head_key import head_key_reader
from salvo.playbooks.store.store import EvaluationStore
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.batch_catalog import BatchCatalog
from salvo.scenarios.store.location import open_store
from salvo.web import events, network
from salvo.web.connections import ConnectionLimits, close_slow, limited_protocol
from salvo.web.jobs.changes import Changes
from salvo.web.jobs.requirements import fulfilled_by
from salvo.web.jobs.scheduler import Jobs, SchedulerLimits
from salvo.web.jobs.text_indexing import index_texts
from salvo.web.metrics import Metrics
from salvo.web.oidc import open_oidc
from salvo.web.read_files import ReadFiles
from salvo.web.request_models import RequestModel, stored_config
from salvo.web.responses import ErrorResponse, JsonResponse, add_error_handlers
from salvo.web.roles import require_role
from salvo.web.routes import (
    about,
    audit,
    document_batches,
    documents,
    evaluations,
    evaluators,
    history,
    judges,
    operations,
    reports,
    sharing,
)
from salvo.web.routes.accounts import login, oidc_login, session, users
from salvo.web.routes.playbooks import playbook_trials, playbooks, saved_playbooks
from salvo.web.routes.reviews import blind_reviews, reviews
from salvo.web.routes.scenarios import batch_results, batches, labels, runs
from salvo.web.security import SecurityMiddleware
from salvo.web.services import Services
from salvo.web.sessions import AccessControl
from salvo.web.settings import DEFAULT_PORT, Settings
from salvo.web.static_files import PageFiles

THREADS = 32
"""For the store and the rules, which mostly wait. Python's default depends on the number of cores."""
SHUTDOWN_SECONDS = 3
"""For responses that are in progress when the server is stopped."""
_ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorResponse, "description": "What is wrong with the request, and how to correct it."},
    "5XX": {"model": ErrorResponse, "description": "The server failed."},
}

_SECURITY_SCHEMES: dict[str, Any] = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "For programs: the token of --token-file or SALVO_TOKEN.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": f"salvo_session_{DEFAULT_PORT}",
        "description": "For browsers, set by the address that the server prints. The name ends with the server's port.",
    },
}


def create_app(
    settings: Settings, access: AccessControl | None = None, on_shutdown: Callable[[], None] | None = None
) -> FastAPI:
    """`access` is given where login codes are issued. `on_shutdown` is called also when a signal ends the process."""
    access = access or AccessControl(settings.clock, settings.token)
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with ThreadPoolExecutor(THREADS) as threads:
            asyncio.get_running_loop().set_default_executor(threads)
            read_key = head_key_reader(os.environ, Path.home())
            store = await asyncio.to_thread(
                EvaluationStore.open_later,
                settings.database_url,
                settings.clock,
                read_key=read_key,
                hide_place=True,
            )
            access.accounts = store.accounts
            changes = Changes()
            limits = SchedulerLimits(settings.max_evaluations, settings.max_queued)
            jobs = Jobs(store, limits, fulfilled_by(settings), partial(stored_config, settings), changes, metrics)
            root = settings.project.absolute()
            catalog = BatchCatalog(
                open_store(Project(root, root, store_address=settings.store_address)), settings.clock
            )
            closing, stopping = asyncio.Event(), asyncio.Event()
            app.state.services = Services(
                settings,
                store,
                jobs,
                catalog,
                changes,
                metrics,
                access,
                ReadFiles(),
                read_key,
                closing,
                None if settings.oidc is None else open_oidc(settings.oidc, store.accounts, settings.clock),
            )
            try:
                await jobs.open()
                indexing = asyncio.create_task(index_texts(store, stopping))
                yield
                stopping.set()
                await indexing
            finally:
                await jobs.close()
                store.close()
                if on_shutdown is not None:
                    on_shutdown()

    app = FastAPI(
        dependencies=[Depends(require_role)],
        title="BYOP runner",
        summary="Evaluates a frozen AI output with a playbook of checks. Not legal advice.",
        version=__version__,
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=JsonResponse,
        responses=_ERRORS,
    )
    for module in (
        evaluations,
        judges,
        reports,
        history,
        playbooks,
        saved_playbooks,
        playbook_trials,
        evaluators,
        documents,
        document_batches,
        batches,
        batch_results,
        labels,
        runs,
        login,
        oidc_login,
        session,
        users,
        reviews,
        blind_reviews,
        sharing,
        audit,
        about,
        operations,
    ):
        app.include_router(module.router)
    app.router.default = GZipMiddleware(PageFiles(settings.static))
    add_error_handlers(app)
    app.add_middleware(SecurityMiddleware, settings=settings, access=access, metrics=metrics)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]  # as FastAPI documents it
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the API description. Responses always contain all their fields, so every field is required."""
    if app.openapi_schema is None:
        openapi = get_openapi(title=app.title, summary=app.summary, version=app.version, routes=app.routes)
        schemas = openapi["components"]["schemas"]
        schemas.update(events.schemas())
        requests = {model.__name__ for model in RequestModel.__subclasses__()}
        for name, schema in schemas.items():
            if name not in requests and "properties" in schema:
                schema["required"] = list(schema["properties"])
        _describe_errors_as_json(openapi)
        openapi["components"]["securitySchemes"] = _SECURITY_SCHEMES
        openapi["security"] = [{name: []} for name in _SECURITY_SCHEMES]
        app.openapi_schema = openapi
    return app.openapi_schema


def _describe_errors_as_json(openapi: dict[str, Any]) -> None:
    """FastAPI describes them with the content type of the operation's success response."""
    for path_item in openapi["paths"].values():
        for operation in path_item.values():
            for status in _ERRORS:
                response = operation["responses"][status]
                response["content"] = {"application/json": next(iter(response["content"].values()))}


class Server(uvicorn.Server):
    """Reports its port, closes slow connections, and ends the evaluations before the connections that watch them."""

    def __init__(
        self,
        app: FastAPI,
        host: str,
        port: int,
        on_ready: Callable[[int | None], None],
        limits: ConnectionLimits | None = None,
        clock: Clock | None = None,
    ) -> None:
        limits = limits or ConnectionLimits()
        super().__init__(
            uvicorn.Config(
                app,
                host=host,
                port=port,
                http=limited_protocol(limits, clock or SystemClock()),
                log_config=None,
                log_level="warning",
                access_log=False,  # a URL may contain a login code
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="on",
                timeout_keep_alive=limits.keep_alive_seconds,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        self._salvo_app = app
        self._on_ready = on_ready

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        address = self.servers[0].sockets[0].getsockname()
        self._on_ready(address[1] if isinstance(address, tuple) else None)

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS_BETWEEN_CHECKS == 0:
            close_slow(self.server_state.connections)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        services: Services = self._salvo_app.state.services
        services.closing.set()
        await services.jobs.close()
        await super().shutdown(sockets)


_TICKS_BETWEEN_CHECKS = 5
"""uvicorn's ticks are a tenth of a second apart."""


def serve(app: FastAPI, host: str, port: int, on_ready: Callable[[int | None], None]) -> None:
    """Serve until stopped. Raise UsageError if the address cannot be used."""
    server = Server(app, host, port, on_ready)
    try:
        server.run()
    except (SystemExit, UnicodeError) as error:  # UnicodeError: a name that no host can have
        if server.started:
            raise
        raise UsageError(
            f"The server cannot listen on {printable(host)}, port {port}.",
            hint="Another program may be using it. Choose another port with --port; 0 takes a free one.",
        ) from error


def serve_socket(app: FastAPI, path: Path, on_ready: Callable[[int | None], None]) -> None:
    """Serve on a Unix socket until stopped. Raise UsageError if there is something else at the path."""
    with network.unix_socket(path) as listening:
        Server(app, "", 0, on_ready).run(sockets=[listening])
