"""Who may ask, and what an answer may do."""

from collections.abc import Callable

import pytest
from inline_snapshot import snapshot

from salvo.web.security import MAX_REQUEST_BYTES
from tests.support.web import Client, WebServer, client

Serve = Callable[..., WebServer]
_VARY = ("date", "content-length")


@pytest.fixture
def api(shared_api: Client) -> Client:
    return shared_api


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
async def test_a_strange_host_gets_403(api: Client, host: str) -> None:
    port = api.url.rpartition(":")[2]
    for path in ("/", "/api/history"):
        refused = await api.ask("GET", path, host=host.format(port=port))
        assert (refused.status, refused.code) == (403, "strange_host")


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}"])
async def test_its_own_names_are_known(api: Client, host: str) -> None:
    assert (await api.ask("GET", "/api/about", host=host.format(port=api.url.rpartition(":")[2]))).status == 200


async def test_another_name_can_be_allowed_to_the_letter(serve: Serve) -> None:
    async with client(serve(hosts=("byop.example",))) as api:
        assert (await api.ask("GET", "/api/about", host="byop.example")).status == 200
        assert (await api.ask("GET", "/api/about", host="byop.example.evil")).status == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
@pytest.mark.parametrize("method, path", [("GET", "/api/history"), ("POST", "/api/compare"), ("GET", "/")])
async def test_a_strange_origin_gets_403(api: Client, origin: str, method: str, path: str) -> None:
    refused = await api.ask(method, path, {} if method == "POST" else None, origin=origin)
    assert (refused.status, refused.code) == (403, "strange_origin")


@pytest.mark.parametrize(
    "method, path, site, mode, allowed",
    [
        ("GET", "/api/history", "same-origin", "cors", True),
        ("GET", "/api/history", "none", "navigate", True),
        ("GET", "/api/history", "cross-site", "navigate", False),
        ("GET", "/api/history", "same-site", "no-cors", False),
        ("POST", "/api/compare", "cross-site", "cors", False),
        ("POST", "/api/compare", "none", "navigate", False),
        ("GET", "/reports/1", "cross-site", "navigate", True),
        ("GET", "/reports/1", "cross-site", "no-cors", False),
    ],
)
async def test_what_a_browser_says_about_who_asks_is_believed(
    api: Client, method: str, path: str, site: str, mode: str, allowed: bool
) -> None:
    answer = await api.ask(method, path, {} if method == "POST" else None, sec_fetch_site=site, sec_fetch_mode=mode)
    assert (answer.status != 403) is allowed


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_what_a_form_can_send_is_not_taken(api: Client, kind: str) -> None:
    refused = await api.ask("POST", "/api/compare", b'{"a": "1", "b": "2"}', content_type=kind)
    assert (refused.status, refused.code) == (415, "wrong_type")


async def test_a_body_that_is_too_large_gets_413_by_its_header_and_by_its_bytes(api: Client) -> None:
    body = b'{"ai_output": "' + b"x" * MAX_REQUEST_BYTES + b'"}'
    said = await api.ask("POST", "/api/estimate", body, content_type="application/json")
    assert (said.status, said.code) == (413, "too_large")
    silent = await api.ask("POST", "/api/estimate", body, content_type="application/json", chunked=True)
    assert (silent.status, silent.code) == (413, "too_large")


async def test_every_answer_carries_the_same_rules_for_the_browser(api: Client) -> None:
    answers = [await api.ask("GET", path) for path in ("/", "/api/about", "/api/nothing", "/api/reports/x")]
    rules = [
        {name: answer.headers.get(name) for name in ("Content-Security-Policy", "X-Content-Type-Options")}
        for answer in answers
    ]
    assert all(rule == rules[0] for rule in rules)
    assert "unsafe" not in str(rules[0]["Content-Security-Policy"])
    assert {name.lower(): value for name, value in answers[1].headers.items() if name.lower() not in _VARY} == snapshot(
        {
            "content-type": "application/json",
            "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
            "referrer-policy": "no-referrer",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "permissions-policy": "camera=(), geolocation=(), microphone=()",
            "cache-control": "no-store",
        }
    )


@pytest.mark.parametrize(
    "method, path, status, code",
    [
        ("GET", "/api/nothing", 404, "not_found"),
        ("GET", "/api", 404, "not_found"),
        ("PUT", "/api/history", 405, "method_not_allowed"),
        ("POST", "/somewhere", 405, "method_not_allowed"),
        ("GET", "/api/reports/nothing", 404, "unknown_id"),
        ("GET", "/api/evaluations/nothing/events", 404, "unknown_id"),
        ("GET", "/api/playbooks/nothing", 404, "unknown_id"),
        ("GET", "/api/history?limit=0", 422, "invalid_request"),
        ("DELETE", "/api/reports/nothing", 404, "unknown_id"),
    ],
)
async def test_every_error_has_the_one_shape(api: Client, method: str, path: str, status: int, code: str) -> None:
    refused = await api.ask(method, path)
    assert (refused.status, refused.code) == (status, code)


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 100_000, b"1" * 5000, b'"x"'])
async def test_json_that_is_none_is_refused(api: Client, body: bytes) -> None:
    refused = await api.ask("POST", "/api/compare", body, content_type="application/json")
    assert refused.status in (400, 422)
    assert refused.code == "invalid_request"


async def test_a_fault_of_the_servers_own_shows_nothing_of_its_inside(
    api: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> list[str]:
        raise RuntimeError("the inside")

    monkeypatch.setattr("salvo.playbooks.playbook.library.names", broken)
    refused = await api.ask("GET", "/api/playbooks")
    assert (refused.status, refused.code) == (500, "internal")
    assert b"inside" not in refused.body
    assert "the inside" in caplog.text
