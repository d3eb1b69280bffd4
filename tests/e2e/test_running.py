"""The way to a report: what is kept in the tab, where the button is, and how long it takes."""

import re

from playwright.sync_api import expect

from tests.e2e.conftest import ServeHere, Site, Visit
from tests.support.browser import assert_accessible
from tests.support.playbook_page import choose_model, drop, enter_key, fill_form, run, wait_for_report
from tests.support.provider import Fault, LoopbackProvider
from tests.support.web import CARELESS, KEY, Judging

_LIMITED = Fault.rate_limited(retry_after=20)


def test_a_reload_keeps_what_was_entered_but_never_the_key(site: Site, visit: Visit) -> None:
    page = visit(site, viewport={"width": 1280, "height": 800}).open()
    drop(page.get_by_label("AI output"), "Lease memo.txt", CARELESS.encode())
    expect(page.get_by_label("Title")).to_have_value("Lease memo")
    page.get_by_label("Reviewer").fill("Dana Example")
    choose_model(page, site.provider.openai_url)
    button = page.get_by_role("button", name="Run Full Evaluation")
    expect(button).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("What you enter here stays in this tab")).to_be_visible()
    assert KEY not in page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")
    page.reload()
    expect(page.get_by_label("AI output")).to_have_value(CARELESS)
    expect(page.get_by_label("Reviewer")).to_have_value("Dana Example")
    expect(page.get_by_label(re.compile("^API key"))).to_have_value("")
    expect(button).to_be_in_viewport(ratio=1)
    enter_key(page)
    run(page)
    wait_for_report(page)
    head = page.locator("main header")
    for part in ("Lease memo.txt", "Dana Example", "sha256:", "UTC"):
        expect(head).to_contain_text(part)
    page.set_viewport_size({"width": 1280, "height": 800})
    for value in (page.get_by_text(re.compile("^sha256:[0-9a-f]{64}$")).first, head.get_by_text(" UTC")):
        box = value.bounding_box()
        assert box is not None
        assert box["height"] < 30, f"on more than one line: {value.inner_text()}"
    other_tab = page.context.new_page()
    other_tab.goto("/")
    expect(other_tab.get_by_label("AI output")).to_have_value("")


def test_the_time_and_every_waiting_call_are_shown(
    serve_here: ServeHere, visit: Visit, provider: LoopbackProvider
) -> None:
    # A server of its own: the limit holds for every later call to this provider, so other tests would wait for it.
    page = visit(serve_here(base_urls=(provider.openai_url,))).open()
    judging, answers_left = Judging(), [True] * 4
    provider.play(lambda asked: judging(asked) if answers_left and answers_left.pop() else _LIMITED)
    fill_form(page, CARELESS)
    choose_model(page, provider.openai_url)
    run(page)
    calls = page.get_by_test_id("waiting-calls").get_by_role("listitem")
    expect(calls).to_have_count(8)
    expect(calls.first).to_contain_text(re.compile(r"Retrying a call in [12]?\d\.\d s: rate limited \(.+, run \d\)"))
    elapsed = page.get_by_test_id("elapsed")
    expect(elapsed).to_contain_text(
        re.compile(r"^(\d+ min )?\d+ s since it was requested\. (About .* left|The time left)")
    )
    assert_accessible(page)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="Evaluation cancelled")).to_be_visible()
