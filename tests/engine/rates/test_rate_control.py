"""How one answer, one pause or one late turn changes the rate. What rate comes of it: run/sharing/test_virtual_rates.py."""

import pytest

from salvo.engine.rates.rate_control import RateController
from salvo.engine.rates.rate_headers import Headroom


def test_nothing_is_limited_before_the_first_refusal() -> None:
    controller = RateController()
    for number in range(100):
        assert controller.seconds_until_next(number / 100) == 0
        controller.count_call(number / 100)
    assert controller.rate is None


def limited_controller() -> RateController:
    """Return a controller that has sent ten calls a second for two seconds, the last of which was refused."""
    controller = RateController()
    for number in range(20):
        controller.count_call(number / 10)
        controller.was_accepted(number / 10, number / 10, is_waited_for=False, headroom=None)
    controller.was_refused(2.0, 2.0)
    return controller


def test_the_refusals_of_one_burst_cut_the_rate_once() -> None:
    controller = limited_controller()
    rate = controller.rate
    assert rate is not None
    assert rate < 10
    for _ in range(5):
        controller.was_refused(2.1, 1.9)  # sent before the cut
    assert controller.rate == rate
    controller.was_refused(4.0, 3.9)
    assert controller.rate < rate


def test_a_refusal_that_arrives_late_says_no_less_about_the_rate() -> None:
    prompt, late = RateController(), RateController()
    for controller, arrives_at in ((prompt, 2.0), (late, 12.0)):
        for number in range(20):
            controller.count_call(number / 10)
        controller.was_refused(arrives_at, 1.9)
    assert late.rate == prompt.rate


def test_a_provider_that_allows_far_more_than_at_the_last_cut_is_soon_used() -> None:
    controller, now, calls = limited_controller(), 5.0, 0
    assert controller.rate is not None
    while controller.rate < 100:
        calls += 1
        now += 1 / controller.rate
        controller.was_accepted(now, now, is_waited_for=True, headroom=None)
    assert calls < 1500  # 5 % at each of 80 calls, which is right near the limit, would need thousands


def test_a_provider_that_asks_for_a_pause_gets_it() -> None:
    controller = limited_controller()
    controller.was_refused(2.1, 1.9, retry_after=7)
    assert controller.seconds_until_next(2.1) == pytest.approx(7)


def send_all(controller: RateController, now: float, waits_since: float | None) -> int:
    """Send as many calls as the controller allows at this time, and return how many."""
    count = 0
    while controller.seconds_until_next(now) == 0:
        controller.count_call(now, waits_since)
        count += 1
    return count


def test_turns_that_were_missed_while_a_call_waited_are_made_up_for() -> None:
    controller = limited_controller()
    controller.take_share(50.0, 2.0, 1)
    send_all(controller, 10.0, None)
    assert send_all(controller, 10.6, waits_since=10.0) == pytest.approx(30, abs=1)  # the machine was busy for 0.6 s
    assert send_all(controller, 20.0, waits_since=10.6) == pytest.approx(50, abs=1)  # at most a second


def test_an_idle_time_and_a_pause_are_followed_by_a_small_burst_at_most() -> None:
    controller = limited_controller()
    controller.take_share(50.0, 2.0, 1)
    send_all(controller, 10.0, None)
    assert send_all(controller, 10.6, waits_since=10.6) == pytest.approx(5, abs=1)  # nothing had waited
    controller.was_refused(10.7, 1.0, retry_after=3)
    assert send_all(controller, 13.7, waits_since=10.6) <= 2


def test_a_very_long_pause_is_not_kept_for_all_calls() -> None:
    controller = limited_controller()
    controller.was_refused(2.1, 1.9, retry_after=3600)
    assert controller.seconds_until_next(2.1) == pytest.approx(60)


def test_the_rate_does_not_grow_while_no_call_waits() -> None:
    controller = limited_controller()
    rate = controller.rate
    for number in range(1000):
        controller.was_accepted(5 + number / 10, 5 + number / 10, is_waited_for=False, headroom=None)
    assert controller.rate == rate


def test_the_rate_does_not_grow_while_the_providers_limit_is_nearly_reached() -> None:
    controller, free = limited_controller(), limited_controller()
    rate = controller.rate
    for number in range(1000):
        now = 5 + number / 10
        controller.was_accepted(now, now, is_waited_for=True, headroom=Headroom(0.05, 30))
        free.was_accepted(now, now, is_waited_for=True, headroom=Headroom(0.5, 30))
    assert controller.rate == rate
    assert free.rate is not None
    assert rate is not None
    assert free.rate > rate


def test_a_limit_that_is_used_up_pauses_the_calls_for_a_part_of_its_time() -> None:
    controller = RateController()
    controller.was_accepted(1.0, 1.0, is_waited_for=False, headroom=Headroom(0.0, 60))
    assert controller.seconds_until_next(1.0) == pytest.approx(3)


def test_server_errors_pause_the_growth_and_cut_nothing() -> None:
    steady, failing = limited_controller(), limited_controller()
    for number in range(40):
        now = 5 + number / 10
        if number % 5 == 0:
            failing.has_failed()
        for controller in (steady, failing):
            controller.was_accepted(now, now, is_waited_for=True, headroom=None)
    assert steady.rate is not None
    assert failing.rate is not None
    assert failing.rate < steady.rate
    assert failing.rate == limited_controller().rate


def test_the_rate_never_falls_to_where_a_cached_prompt_would_be_dropped() -> None:
    controller = limited_controller()
    for number in range(100):
        controller.was_refused(5 + number * 2.0, 5 + number * 2.0)
    assert controller.rate == pytest.approx(0.1)
