"""The built page, and what is served where it is missing."""

from collections.abc import Iterator

import pytest

from salvo.web.settings import Settings
from tests.support.web import Client, WebServer, client


@pytest.fixture(scope="module")
def page_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    folder = tmp_path_factory.mktemp("page")
    static = folder / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text('<div id="root"></div>')
    (static / "assets" / "index-1a2b.js").write_text("console.log('a page');" * 500)
    (folder / "secret.txt").write_text("not for the page")
    with WebServer(Settings(f"sqlite:///{folder / 'byop_runs.db'}", project=folder, static=static)) as server:
        yield server


@pytest.mark.parametrize("path", ["/", "/reports/1m00", "/history", "/compare?a=1&b=2", "/reports/a.b"])
async def test_every_address_that_is_not_the_apis_loads_the_page(page_server: WebServer, path: str) -> None:
    async with client(page_server) as api:
        page = await api.ask("GET", path)
    assert (page.status, page.body, page.headers["Cache-Control"]) == (200, b'<div id="root"></div>', "no-cache")


async def test_a_file_whose_name_changes_with_its_content_is_kept_for_ever_and_sent_packed(
    page_server: WebServer,
) -> None:
    async with client(page_server) as api:
        file = await api.ask("GET", "/assets/index-1a2b.js", accept_encoding="identity")
        assert file.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert file.headers["Content-Type"].startswith("text/javascript")
        packed = await api.ask("GET", "/assets/index-1a2b.js", accept_encoding="gzip")
        assert packed.headers["Content-Encoding"] == "gzip"
        assert int(packed.headers["Content-Length"]) < len(file.body) / 5
        again = await api.ask("GET", "/assets/index-1a2b.js", if_none_match=file.headers["Etag"])
        assert (again.status, again.body) == (304, b"")
        assert (await api.ask("GET", "/assets/missing.js")).code == "not_found"
    assert packed.body == file.body


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/%00"])
async def test_nothing_outside_the_page_is_served(page_server: WebServer, path: str) -> None:
    async with client(page_server) as api:
        assert b"not for the page" not in (await api.ask("GET", path)).body


async def test_where_the_page_is_missing_it_says_how_to_get_it_and_the_api_works(api: Client) -> None:
    page = await api.ask("GET", "/")
    assert page.status == 503
    assert b"make serve" in page.body
    assert (await api.get("/api/about"))["version"]
