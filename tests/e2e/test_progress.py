"""A running evaluation: watching, reconnecting, retrying, failing, cancelling."""

import re
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Serve, ServeHere, Site, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import answers, ask, choose_model, enter_key, fill_form, run, wait_for_report
from tests.support.provider import Fault, LoopbackProvider
from tests.support.web import CARELESS, GPT, KEY, Judging

GONE = r"net::ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET|EMPTY_RESPONSE)"


def test_a_reload_during_an_evaluation_resumes_watching(site: Site, visit: Visit) -> None:
    page = visit(site).open()
    _begin(page, site.provider, after=5)
    page.reload()
    expect(answers(page)).to_have_text("5 of 12 answers")
    expect(page.get_by_test_id("open-calls")).to_have_text(
        re.compile(r"^Waiting for 7 calls to the evaluator, the oldest for [1-9]\d* s\.$")
    )
    expect(page.get_by_role("listitem").get_by_text("FAIL")).to_have_count(5)
    site.provider.let_go()
    wait_for_report(page)
    assert len(site.provider.requests) == 12


def test_a_closed_tab_loses_nothing(site: Site, visit: Visit) -> None:
    visitor = visit(site)
    page = visitor.open()
    _begin(page, site.provider, after=5)
    address = page.url
    page.close()
    site.provider.let_go()
    wait_for_report(visitor.open(address))
    assert len(site.provider.requests) == 12


def test_an_evaluation_is_resumed_after_the_server_was_killed(
    serve: Serve, visit: Visit, provider: LoopbackProvider
) -> None:
    allowed = ("--allow-base-url", provider.openai_url)
    first = serve(*allowed)
    visitor = visit(first)
    visitor.forgive(GONE)
    visitor.forgive("status of 401")
    page = visitor.open()
    _begin(page, provider, after=5)
    first.kill()
    expect(page.get_by_text("Connection lost.")).to_be_visible()
    provider.play(Judging())
    provider.let_go()
    second = serve(*allowed, "--port", str(urlsplit(first.url).port))
    expect(page.get_by_role("heading", name="Log in to continue")).to_be_visible()
    visitor.open(second.login_address()).close()
    expect(page.get_by_role("heading", name="Evaluation interrupted")).to_be_visible()
    expect(page.get_by_text("5 of 12 answers received.")).to_be_visible()
    expect(page.get_by_role("listitem").get_by_text("FAIL")).to_have_count(5)
    page.reload()
    resume = page.get_by_role("button", name="Resume: request missing votes")
    expect(resume).to_be_disabled()
    assert_accessible(page)
    enter_key(page)
    resume.click()
    wait_for_report(page)
    assert len(provider.requests) == 7


def test_provider_errors_are_retried_with_a_notice(site: Site, visit: Visit) -> None:
    page = visit(site).open()
    judging = Judging()
    faults = [Fault.server_error()] * 4 + [Fault.rate_limited(retry_after=1)] * 4
    site.provider.play(lambda asked: faults.pop(0) if faults else judging(asked))
    site.provider.hold(after=8)
    fill_form(page, CARELESS)
    page.get_by_label("Screening (1 run, quick)").check()
    choose_model(page, site.provider.openai_url)
    run(page)
    waiting = page.get_by_text(re.compile("^Retrying a call in .*: rate limited")).first
    expect(waiting).to_be_visible()
    expect(waiting).to_be_hidden()  # the wait is over, although no vote has arrived yet
    site.provider.let_go()
    wait_for_report(page)
    expect(page.get_by_text("Non-auditable quick check (not comparable over time)").first).to_be_visible()
    expect(page.get_by_label("Status").get_by_text("INCOMPLETE")).to_be_hidden()


def test_a_wrong_key_is_reported_and_the_right_one_completes_the_report(site: Site, visit: Visit) -> None:
    judging = Judging()
    site.provider.play(lambda asked: judging(asked) if asked.key == KEY else Fault.unauthorized())
    page = visit(site).open()
    fill_form(page, CARELESS)
    choose_model(page, site.provider.openai_url, key="sk-wrong-0123456789")
    run(page)
    wrong = wait_for_report(page)
    expect(page.get_by_label("Status").get_by_text("INCOMPLETE")).to_be_visible()
    expect(page.get_by_role("button", name="Save as Baseline")).to_be_hidden()
    expect(page.get_by_text("An incomplete report cannot be a baseline.")).to_be_visible()
    shown = page.locator("main").inner_text()
    for words in ("API_KEY", "byop run", "REVIEW"):
        assert words not in shown
    expect(page.locator("main header").get_by_text("Incorrect API key provided")).to_be_visible()
    assert_accessible(page)
    enter_key(page)
    page.get_by_role("button", name="Resume: request missing votes").click()
    page.wait_for_url(lambda url: "/reports/" in url and wrong not in url)
    expect(page.get_by_role("region", name="Status")).to_contain_text("ALERT")
    expect(page.get_by_label("Status").get_by_text("INCOMPLETE")).to_be_hidden()


def test_a_cancelled_evaluation_keeps_its_votes(site: Site, visit: Visit) -> None:
    page = visit(site).open()
    _begin(page, site.provider, after=5)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="Evaluation cancelled")).to_be_visible()
    expect(page.get_by_role("definition").filter(has_text="Memo on the cap")).to_be_visible()
    expect(page.get_by_text("The evaluation was cancelled. The votes so far are kept. 5 of 12 answers")).to_be_visible()
    expect(page.get_by_role("listitem").get_by_text("FAIL")).to_have_count(5)


def test_a_double_click_starts_one_evaluation(site: Site, visit: Visit) -> None:
    page = visit(site).open()
    fill_form(page, CARELESS, subject="clicked twice")
    page.get_by_role("button", name="Run Full Evaluation").dblclick()
    wait_for_report(page)
    assert len(ask(page.request, "GET", "/api/history?subject=clicked+twice")["rows"]) == 1


def test_two_tabs_watch_the_same_evaluation(site: Site, visit: Visit) -> None:
    visitor = visit(site)
    page = visitor.open()
    _begin(page, site.provider, after=5)
    other = visitor.open(page.url)
    expect(answers(other)).to_have_text("5 of 12 answers")
    site.provider.let_go()
    assert wait_for_report(page) == wait_for_report(other)


def test_the_queue_position_is_shown(serve_here: ServeHere, visit: Visit, provider: LoopbackProvider) -> None:
    page = visit(serve_here(base_urls=(provider.openai_url,), max_evaluations=1)).open()
    provider.hold()
    asked = {"ai_output": CARELESS, "evaluator": GPT, "base_url": provider.openai_url}
    first, second = [ask(page.request, "POST", "/api/evaluations", asked, x_api_key=KEY)["id"] for _ in range(2)]
    fill_form(page, CARELESS)
    run(page)
    expect(page.get_by_role("heading", name="Evaluation queued")).to_be_visible()
    expect(page.get_by_text("Number 2 in the queue")).to_be_visible()
    assert_accessible(page)
    ask(page.request, "POST", f"/api/evaluations/{first}/cancel")
    expect(page.get_by_text("Next in the queue")).to_be_visible()
    ask(page.request, "POST", f"/api/evaluations/{second}/cancel")
    wait_for_report(page)


def _begin(page: Page, provider: LoopbackProvider, *, after: int) -> None:
    """Start an evaluation and wait until this many answers are shown."""
    provider.hold(after)
    fill_form(page, CARELESS)
    page.get_by_label("Title").fill("Memo on the cap")
    choose_model(page, provider.openai_url)
    run(page)
    expect(answers(page)).to_have_text(f"{after} of 12 answers")
