"""What goes wrong between an API and its client, below or beside the protocol."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from http import HTTPStatus

from aiohttp import web

from tests.support.provider.script import Fault, FaultKind

Headers = Mapping[str, str]
WireError = Callable[[web.BaseRequest, Fault, Headers], Awaitable[web.StreamResponse]]

JSON = "application/json"
HALF = b'{"id": "cut", "object": "chat.completion", "type": "message", '
CHUNK = b" " * 65_536


async def hang(request: web.BaseRequest, fault: Fault, headers: Headers) -> web.StreamResponse:
    never: asyncio.Future[web.StreamResponse] = asyncio.get_running_loop().create_future()
    return await never  # cancelled when the client or the provider closes


async def hang_up(request: web.BaseRequest, fault: Fault, headers: Headers) -> web.StreamResponse:
    _close(request)
    return web.Response()


async def cut(request: web.BaseRequest, fault: Fault, headers: Headers) -> web.StreamResponse:
    response = web.StreamResponse(headers=headers)
    response.content_type = JSON
    response.content_length = 2 * len(HALF)
    await response.prepare(request)
    await response.write(HALF)
    _close(request)
    return response


async def invalid_json(request: web.BaseRequest, fault: Fault, headers: Headers) -> web.StreamResponse:
    return web.Response(body=HALF, content_type=JSON, headers=headers)


async def empty(request: web.BaseRequest, fault: Fault, headers: Headers) -> web.StreamResponse:
    return web.Response(body=b"", content_type=JSON, headers=headers)


async def huge(request: web.BaseRequest, fault: Fault, headers: Headers) -> web.StreamResponse:
    response = web.StreamResponse(headers=headers)
    response.content_type = JSON
    response.enable_chunked_encoding()
    await response.prepare(request)
    with suppress(ConnectionError):  # a careful client leaves before the end
        for start in range(0, fault.size, len(CHUNK)):
            await response.write(CHUNK[: fault.size - start])
        await response.write_eof()
    return response


async def redirect(request: web.BaseRequest, fault: Fault, headers: Headers) -> web.StreamResponse:
    return web.Response(status=fault.status, headers={**headers, "location": fault.url})


async def html(request: web.BaseRequest, fault: Fault, headers: Headers) -> web.StreamResponse:
    title = f"{fault.status} {HTTPStatus(fault.status).phrase}"
    page = f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n"
    page += "<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
    return web.Response(status=fault.status, text=page, content_type="text/html", headers=headers)


async def body(request: web.BaseRequest, fault: Fault, headers: Headers) -> web.StreamResponse:
    return web.Response(body=fault.content, content_type=JSON, headers=headers)


async def drip(request: web.BaseRequest, fault: Fault, headers: Headers) -> web.StreamResponse:
    response = web.StreamResponse(headers=headers)
    response.content_type = JSON
    response.enable_chunked_encoding()
    await response.prepare(request)
    with suppress(ConnectionError):
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.1)
    return response


async def bad_gzip(request: web.BaseRequest, fault: Fault, headers: Headers) -> web.StreamResponse:
    return web.Response(body=fault.content or HALF, content_type=JSON, headers={**headers, "content-encoding": "gzip"})


WIRE_FAULTS: Mapping[FaultKind, WireError] = {
    "hang": hang,
    "hang_up": hang_up,
    "cut": cut,
    "invalid_json": invalid_json,
    "empty": empty,
    "huge": huge,
    "redirect": redirect,
    "html": html,
    "body": body,
    "drip": drip,
    "bad_gzip": bad_gzip,
}


def _close(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.close()
