"""The object store on loopback writes an object only once, as the ones that it stands for."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError
from wsgiref.types import StartResponse, WSGIEnvironment

from tests.support.object_store import one_at_a_time


def test_requests_are_handled_one_at_a_time() -> None:
    together = Barrier(2)

    def app(_environ: WSGIEnvironment, _start_response: StartResponse) -> Iterable[bytes]:
        try:
            together.wait(0.2)
            yield b"together"
        except BrokenBarrierError:
            together.reset()
            yield b"alone"

    handle = one_at_a_time(app)
    with ThreadPoolExecutor(2) as threads:
        replies = list(threads.map(lambda _: list(handle({}, print)), range(2)))  # type: ignore[arg-type]  # not called
    assert replies == [[b"alone"], [b"alone"]]
