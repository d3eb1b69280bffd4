"""`adapter: function:module.callable`: any function that takes the request and returns the final output."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from salvo.engine.runtime.threads import in_thread
from salvo.scenarios.result import AdapterRequest, AdapterResponse
from salvo.scenarios.run.adapters.base import BaseAdapter


class FunctionAdapter(BaseAdapter):
    """Runs sync functions in a thread, so that one run does not block the others."""

    def __init__(self, function: Callable[[AdapterRequest], Any]) -> None:
        self._function = function

    async def run(self, request: AdapterRequest) -> AdapterResponse:
        if inspect.iscoroutinefunction(self._function):
            output = await self._function(request)
        else:
            output = await in_thread(self._function, request)
            if inspect.isawaitable(output):
                output = await output
        return output if isinstance(output, AdapterResponse) else AdapterResponse(output)
