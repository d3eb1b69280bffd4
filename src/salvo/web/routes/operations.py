"""/healthz, /readyz, /metrics: for whoever runs the server. They are not part of the API that the page uses."""

from __future__ import annotations

import asyncio
import logging

from fastapi import APIRouter
from starlette.responses import PlainTextResponse

from salvo.errors import SalvoError
from salvo.web.services import Services, ServicesDep

router = APIRouter(include_in_schema=False)
_log = logging.getLogger(__name__)

READY_SECONDS = 5.0
"""How long the database may take to answer."""
_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/healthz")
async def healthz() -> PlainTextResponse:
    """Answer as long as the process can. Without a login, so it says nothing else."""
    return PlainTextResponse("ok\n")


@router.get("/readyz")
async def readyz(services: ServicesDep) -> PlainTextResponse:
    """Say whether requests can be sent here: the server is not being stopped, and its database answers."""
    is_ready = not services.closing.is_set() and await _database_answers(services)
    return PlainTextResponse("ready\n" if is_ready else "not ready\n", 200 if is_ready else 503)


async def _database_answers(services: Services) -> bool:
    if services.store.is_new:  # a file that is created by the first evaluation
        return True
    try:
        async with asyncio.timeout(READY_SECONDS):
            await asyncio.to_thread(services.store.queue.counts)
    except TimeoutError:
        _log.warning("The server is not ready: the database does not answer.")
        return False
    except SalvoError as error:
        _log.warning("The server is not ready: %s", error)
        return False
    return True


@router.get("/metrics")
async def metrics(services: ServicesDep) -> PlainTextResponse:
    """Return the metrics of this server, and of the queue that all servers share."""
    gauges = {
        "salvo_evaluations_running": ("Evaluations that this server runs.", services.jobs.running),
        "salvo_evaluations_limit": ("How many it runs at the same time.", services.settings.max_evaluations),
    }
    if not services.store.is_new:
        queue = await asyncio.to_thread(services.store.queue.counts)
        gauges["salvo_queue_waiting"] = ("Evaluations that wait, on all servers.", queue.waiting)
        gauges["salvo_queue_running"] = ("Evaluations that run, on all servers.", queue.running)
    return PlainTextResponse(services.metrics.text(gauges), media_type=_METRICS_TYPE)
