"""An object store with the API of S3 on loopback: moto's server, in this process."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection

from moto.server import ThreadedMotoServer


@contextmanager
def object_store_server() -> Iterator[str]:
    """Serve an empty object store in this block, and yield its address."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it would print a line per request
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


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
