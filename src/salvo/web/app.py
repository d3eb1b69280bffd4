"""The application: the store opened, the jobs begun, the routes put together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from salvo import __version__
from salvo.playbooks.store.store import EvaluationStore
from salvo.scenarios.spec.project import Project
from salvo.scenarios.store.batch_catalog import BatchCatalog
from salvo.scenarios.store.store import RunStore
from salvo.web import events, static_files
from salvo.web.jobs import Jobs
from salvo.web.responses import ErrorAnswer, Json, answer_errors
from salvo.web.routes import about, batches, documents, evaluations, evaluators, history, playbooks, reports, runs
from salvo.web.security import SecurityMiddleware
from salvo.web.services import Services
from salvo.web.settings import Settings

THREADS = 32
"""For the store and the rules. Python's own number goes by the cores, and these mostly wait."""
_ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorAnswer, "description": "What is wrong with the request, and what to do about it."},
    "5XX": {"model": ErrorAnswer, "description": "The server could not do it."},
}


def create_app(settings: Settings) -> FastAPI:
    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        with ThreadPoolExecutor(THREADS) as threads:
            asyncio.get_running_loop().set_default_executor(threads)
            store = await asyncio.to_thread(EvaluationStore.open_later, settings.database_url, settings.clock)
            if not store.is_new:
                await asyncio.to_thread(store.mark_interrupted)
            jobs = Jobs(store, settings.at_once)
            root = settings.project.absolute()
            shelf = BatchCatalog(RunStore(Project(root, root).store), settings.clock)
            app.state.services = Services(settings, store, jobs, shelf, asyncio.Event())
            try:
                yield
            finally:
                await jobs.close()
                store.close()

    app = FastAPI(
        title="BYOP runner",
        summary="Observes a frozen AI output with a playbook of checks. Never legal advice.",
        version=__version__,
        lifespan=living,
        openapi_url="/api/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=Json,
        responses=_ERRORS,
    )
    for part in (evaluations, reports, history, playbooks, evaluators, documents, batches, runs, about):
        app.include_router(part.router)
    app.router.default = static_files.page(settings.static)
    answer_errors(app)
    app.add_middleware(SecurityMiddleware, settings=settings)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # FastAPI's own way to change it
    return app


def _described(app: FastAPI) -> dict[str, Any]:
    """The API's description. What an answer holds it always holds, so every field of it is required."""
    if app.openapi_schema is None:
        described = get_openapi(title=app.title, summary=app.summary, version=app.version, routes=app.routes)
        schemas = described["components"]["schemas"]
        schemas.update(events.schemas())
        for name, schema in schemas.items():
            if name not in _REQUESTS and "properties" in schema:
                schema["required"] = list(schema["properties"])
        _errors_are_json(described)
        app.openapi_schema = described
    return app.openapi_schema


def _errors_are_json(described: dict[str, Any]) -> None:
    """Whatever kind of answer an operation gives otherwise."""
    for operations in described["paths"].values():
        for operation in operations.values():
            for status in _ERRORS:
                told = operation["responses"][status]
                told["content"] = {"application/json": next(iter(told["content"].values()))}


_REQUESTS = frozenset({"EvaluationCreate", "EvaluationResume", "Pair", "NewBaseline", "Candidate", "Sides"})
