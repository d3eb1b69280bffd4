"""An object store with the API of S3 on loopback: moto's server, in this process."""

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server


@contextmanager
def object_store_server() -> Iterator[str]:
    """Serve an empty object store in this block, and yield its address."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it would print a line per request
    app = one_at_a_time(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=MotoRequestHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def one_at_a_time(app: WSGIApplication) -> WSGIApplication:
    """Handle one request after the other.

    moto looks whether an object exists and writes it in two steps, so that of two threads that create an object both
    could succeed. In the object stores that it stands for this is one step.
    """
    lock = threading.Lock()

    def handle(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        with lock:
            return list(app(environ, start_response))

    return handle


def make_bucket(endpoint: str, name: str) -> None:
    connection = HTTPConnection(endpoint.removeprefix("http://"))
    connection.request("PUT", f"/{name}")
    assert connection.getresponse().status == 200
    connection.close()


def object_environment(endpoint: str) -> dict[str, str]:
    """What a user sets to reach the server."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "test-id",
        "AWS_SECRET_ACCESS_KEY": "test-key-of-the-object-store",
        "AWS_REGION": "us-east-1",
    }
