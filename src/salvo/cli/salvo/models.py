"""`salvo models`: the models, with the prices of the project."""

from __future__ import annotations

from salvo.cli.models import models_command
from salvo.engine.runtime.clock import SystemClock
from salvo.engine.runtime.pricing import PriceBook
from salvo.scenarios.spec.prices import read_price_book
from salvo.scenarios.spec.project import Project


def _project_prices() -> PriceBook:
    return read_price_book(Project.find().root, None, SystemClock().now())


models = models_command(_project_prices)
