"""The API key is sent with one request and stored nowhere."""

import re

from playwright.sync_api import Request, expect

from tests.e2e.conftest import Serve, Visit
from tests.support.playbook_page import choose_model, fill_form, run, wait_for_report
from tests.support.provider import LoopbackProvider
from tests.support.web import CARELESS, KEY, folder_content

STORED = """async () => {
  const databases = await indexedDB.databases();
  return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, databases, document.cookie, location.href,
    history.state, await caches.keys(), document.documentElement.outerHTML]);
}"""


def test_the_key_is_in_one_header_of_one_request_and_nowhere_else(
    serve: Serve, visit: Visit, provider: LoopbackProvider
) -> None:
    server = serve("--allow-base-url", provider.openai_url)
    visitor = visit(server)
    page = visitor.open()
    fill_form(page, CARELESS)
    choose_model(page, provider.openai_url)
    assert page.get_by_label(re.compile("^API key")).get_attribute("type") == "password"
    run(page)
    report = wait_for_report(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Export JSON").click()
    exported = download.value.path().read_bytes()
    for path in ("/history", f"/evaluations/{report}", "/"):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("form", name="Evaluation")).to_be_visible()
    page.get_by_label("Provider").select_option("openai")
    expect(page.get_by_label(re.compile("^API key"))).to_have_value("")

    carriers = [request for request in visitor.requests if KEY in _sent(request)]
    assert [(request.method, request.url) for request in carriers] == [("POST", f"{server.url}/api/evaluations")]
    assert [name for name, value in carriers[0].all_headers().items() if KEY in value] == ["x-api-key"]
    assert KEY not in (carriers[0].post_data or "") + carriers[0].url
    assert KEY not in page.evaluate(STORED)
    assert [cookie["httpOnly"] for cookie in visitor.context.cookies()] == [True]  # the session, hidden from scripts
    stored = folder_content(server.log.parent)
    assert b"byop_evaluations" in stored  # the search includes the database
    assert KEY.encode() not in stored + exported
    assert all(asked.key == KEY for asked in provider.requests)


def _sent(request: Request) -> str:
    return f"{request.url} {request.all_headers()} {request.post_data or ''}"
