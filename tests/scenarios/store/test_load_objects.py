"""100,000 runs in an object store: what a list asks for does not grow with what is stored."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest
from moto.backends import get_backend
from moto.core.models import DEFAULT_ACCOUNT_ID

from salvo.engine.jsonio import json_codec
from salvo.engine.runtime.clock import SystemClock
from salvo.scenarios.store.batch_catalog import BatchCatalog
from salvo.scenarios.store.store import RunStore
from tests.scenarios.store.conftest import StorePlace
from tests.support.object_store import make_bucket
from tests.support.runs import batch, result

RUNS_PER_BATCH = 50
CLOCK = SystemClock()


def report(store: RunStore) -> int:
    return len(store.last(10))


def first_page(store: RunStore) -> int:
    return len(list(islice(BatchCatalog(store, CLOCK).rows(), 20)))


SHOWN = (
    ("report, empty cache", report),
    ("report", report),
    ("first page, empty cache", first_page),
    ("first page", first_page),
)


class _Requests(logging.Handler):
    """Counts the requests that the server logs."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.count = 0

    def emit(self, _record: logging.LogRecord) -> None:
        self.count += 1


@contextmanager
def counted_requests() -> Iterator[_Requests]:
    logger = logging.getLogger("werkzeug")
    handler, level, propagate = _Requests(), logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


def fill(bucket: str, runs: int) -> None:
    """Put the objects straight into the server's memory, because 100,000 requests would take minutes."""
    backend = get_backend("s3")[DEFAULT_ACCOUNT_ID]["aws"]
    for index in range(runs // RUNS_PER_BATCH):
        batch_id = f"01k9{index:06d}"
        content = json_codec.dumps(batch(batch_id, RUNS_PER_BATCH, recorded=False))
        backend.put_object(bucket, f"x/batches/{batch_id}.json", content)
        for number in range(1, RUNS_PER_BATCH + 1):
            run = result(number, batch_id=batch_id)
            backend.put_object(bucket, f"x/runs/{batch_id}/{run.run_id}.json", json_codec.dumps(run))


@pytest.mark.load
@pytest.mark.timeout(600)
def test_a_list_of_100_000_runs_asks_for_little_more_than_one_of_1_000(
    bucket: str, object_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    requests: dict[str, list[int]] = {}
    lines = []
    for runs in (1_000, 100_000):
        name = f"load-{runs}"
        make_bucket(object_server, name)
        fill(name, runs)
        place = StorePlace(f"s3://{name}/x", tmp_path)
        for what, show in SHOWN:
            if what.endswith("empty cache"):
                for database in tmp_path.rglob("objects.sqlite3"):
                    database.unlink()
            began = CLOCK.monotonic()
            with counted_requests() as counted:
                assert show(place.open()) > 0
            requests.setdefault(what, []).append(counted.count)
            lines.append(f"{runs:>7,} runs, {what}: {counted.count} requests, {CLOCK.monotonic() - began:.2f} s")
    with capsys.disabled():
        print("\n" + "\n".join(lines))  # the numbers are for whoever reads the output: a timing is no test
    for what, (few, many) in requests.items():
        assert many <= 2 * few, what
