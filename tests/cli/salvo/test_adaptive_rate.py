"""`salvo run -j auto`: as many runs at once, and as many calls per second, as the provider accepts."""

import json
import threading
import time

import pytest

from tests.support.project import UserProject
from tests.support.provider import Answer, Fault, LoopbackProvider, ProviderRequest, Say, in_order

GREETING = """
scenario: greeting
adapter: openai
model: gpt-5.4-mini
seed: 0
user_message: Say hello.
timeout: {timeout}
assertions:
  - {{type: latency_limit, max_seconds: {timeout}}}
"""


@pytest.fixture
def greeting(project: UserProject) -> UserProject:
    (project.folder / "scenarios/book_flight.yaml").unlink()
    return write_greeting(project, timeout=60)


def write_greeting(project: UserProject, timeout: float) -> UserProject:
    project.write("scenarios/greeting.yaml", GREETING.format(timeout=timeout))
    return project


class TokenBucket:
    """A provider that accepts so many calls per second, and as many at once as a second brings."""

    def __init__(self, rate: float, shards: int = 1, learning: int = 0) -> None:
        self._rate = rate
        self._shards = shards
        self._learning = learning
        self._lock = threading.Lock()
        self._tokens = rate
        self._refilled = time.monotonic()
        self._accepted_at: list[list[float]] = [[] for _ in range(shards)]
        self.refused = self.refused_later = 0
        """All refusals, and those after so many accepted calls, which are needed to learn the rate."""

    def __call__(self, request: ProviderRequest) -> Answer:
        with self._lock:
            now = time.monotonic()
            self._tokens = min(self._rate, self._tokens + (now - self._refilled) * self._rate)
            self._refilled = now
            if self._tokens < 1:
                self.refused += 1
                self.refused_later += self.accepted >= self._learning
                return Fault.rate_limited()
            self._tokens -= 1
            self._accepted_at[request.body.get("seed", 0) % self._shards].append(now)
            return Say("Hello.")

    @property
    def accepted(self) -> int:
        return sum(map(len, self._accepted_at))

    @property
    def used(self) -> float:
        """Return the share that was used of what could have been, while all shards were running.

        A command that still starts, or has made its runs, has no calls for its share of the rate. How long that takes
        on a busy machine is not a matter of the rate.
        """
        start = max(times[0] for times in self._accepted_at)
        end = min(times[-1] for times in self._accepted_at)
        accepted = sum(start <= time <= end for times in self._accepted_at for time in times)
        return accepted / (self._rate * (end - start) + self._rate)


def test_more_and_more_runs_are_made_at_once_while_every_call_is_accepted(greeting: UserProject) -> None:
    with LoopbackProvider(Say("Hello."), latency=0.2) as provider:  # longer than a busy machine needs for 20 calls
        greeting.reach(provider)
        result = greeting.salvo("run", "-j", "auto", "-n", "300")
        assert result.exit_code == 0, result.output
        assert 20 < provider.most_at_once <= 200


def test_a_number_of_runs_at_once_stays_as_it_is(greeting: UserProject) -> None:
    with LoopbackProvider(Say("Hello."), latency=0.05) as provider:
        greeting.reach(provider)
        assert greeting.salvo("run", "-j", "7", "-n", "100").exit_code == 0
        assert provider.most_at_once == 7


def test_a_scenario_that_allows_few_runs_at_once_never_has_more(greeting: UserProject) -> None:
    greeting.write("scenarios/greeting.yaml", GREETING.format(timeout=60) + "concurrency: 3\n")
    with LoopbackProvider(Say("Hello."), latency=0.02) as provider:
        greeting.reach(provider)
        assert greeting.salvo("run", "-j", "auto", "-n", "60").exit_code == 0
        assert provider.most_at_once == 3


def test_waiting_for_a_turn_is_not_the_agents_time(greeting: UserProject) -> None:
    write_greeting(greeting, timeout=2.5)
    refusals = [Fault.rate_limited(retry_after=3)] * 3  # the first one pauses all calls for three seconds
    with LoopbackProvider(in_order(*refusals, *[Say("Hello.")] * 12)) as provider:
        greeting.reach(provider)
        result = greeting.salvo("run", "-j", "auto", "-n", "12")
    assert result.exit_code == 0, result.output
    runs = [json.loads(path.read_text()) for path in greeting.runs()]
    assert len(runs) == 12
    assert max(run["metrics"]["latency"] for run in runs) < 2.5


@pytest.mark.parametrize("workers", [(), pytest.param(("--processes", "2"), marks=pytest.mark.load)])
def test_no_run_is_lost_to_the_rate_limit(greeting: UserProject, workers: tuple[str, ...]) -> None:
    bucket = TokenBucket(30)
    with LoopbackProvider(bucket, latency=0.02) as provider:
        greeting.reach(provider)
        result = greeting.salvo("run", "-j", "auto", "-n", "120", *workers)
    assert result.exit_code == 0, result.output
    assert bucket.accepted == 120


def test_runs_in_several_processes_are_made_at_once_while_every_call_is_accepted(greeting: UserProject) -> None:
    with LoopbackProvider(Say("Hello."), latency=0.2) as provider:
        greeting.reach(provider)
        result = greeting.salvo("run", "-j", "auto", "-n", "200", "--processes", "2")
        assert result.exit_code == 0, result.output
        assert 15 < provider.most_at_once <= 200


def test_only_a_number_or_auto_is_accepted(greeting: UserProject) -> None:
    for value in ("0", "-1", "many", "1.5"):
        result = greeting.salvo("run", "-j", value)
        assert result.exit_code == 2
        assert "-j" in result.output
    assert "'many' is neither a number nor auto." in greeting.salvo("run", "-j", "many").stderr


def test_commands_that_do_not_adapt_say_so(greeting: UserProject) -> None:
    for command in (["judge", "latest"], ["score", "latest"], ["compare", "a", "b"]):
        result = greeting.salvo(*command, "-j", "auto")
        assert (result.exit_code, "auto is for `salvo run` only; a number is needed here." in result.stderr) == (
            2,
            True,
        )


RATE, CALLS, LEARNING = 20, 1600, 320
"""Few enough calls per second for two busy processors, and so many that chance hardly matters: four shards share what they
learn twice a second, and in simulations of 1,200 calls one of a hundred batches had 2 % refused, of 1,600 none.

The figures of whole batches, from the first call and with more calls per second, are those of virtual time
(run/sharing/test_virtual_rates.py). Here real processes, clocks, connections and stores must do the same.
"""


def check(bucket: TokenBucket) -> None:
    refused = bucket.refused_later / (bucket.refused_later + CALLS - LEARNING)
    print(f"{bucket.used:.1%} of the rate used, {refused:.1%} refused after the first {LEARNING} calls")
    assert bucket.accepted == CALLS
    assert bucket.used > 0.9
    assert refused < 0.02


@pytest.mark.load
@pytest.mark.timeout(600)
@pytest.mark.parametrize("workers", [(), ("--processes", "1")])
@pytest.mark.parametrize("place", ["folder", "object store"])
def test_four_shards_on_one_store_share_the_rate_of_the_provider(
    greeting: UserProject, workers: tuple[str, ...], place: str, request: pytest.FixtureRequest
) -> None:
    store = "shared" if place == "folder" else request.getfixturevalue("bucket")
    bucket = TokenBucket(RATE, shards=4, learning=LEARNING)
    with LoopbackProvider(bucket, latency=0.2) as provider:
        greeting.reach(provider)
        options = ("-j", "auto", "-n", str(CALLS), "--batch", "nightly", "--store", store, *workers)
        shards = [greeting.process("run", "--shard", f"{number}/4", *options) for number in range(1, 5)]
        outputs = [process.communicate(timeout=500) for process in shards]
    assert [process.returncode for process in shards] == [0] * 4, outputs
    check(bucket)


@pytest.mark.load
@pytest.mark.timeout(600)
@pytest.mark.parametrize("workers", [(), ("--processes", "4")])
def test_the_rate_of_the_provider_is_used_with_few_refusals(greeting: UserProject, workers: tuple[str, ...]) -> None:
    bucket = TokenBucket(RATE, learning=LEARNING)
    with LoopbackProvider(bucket, latency=0.2) as provider:
        greeting.reach(provider)
        result = greeting.salvo("run", "-j", "auto", "-n", str(CALLS), *workers)
    assert result.exit_code == 0, result.output
    check(bucket)
