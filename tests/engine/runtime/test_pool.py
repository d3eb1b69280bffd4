"""So many jobs at once and no more, and nothing new once it is stopped or the money is spent."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from salvo.engine.runtime.pool import Budget, Pool, PoolStopped, gather


class Jobs:
    """Jobs that say when they run, and end when they are let."""

    def __init__(self) -> None:
        self.started: list[Any] = []
        self.ended: list[Any] = []
        self.running = 0
        self.most_at_once = 0
        self.let_go = asyncio.Event()

    def job(self, name: Any) -> Callable[[], Awaitable[Any]]:
        async def run() -> Any:
            self.started.append(name)
            self.running += 1
            self.most_at_once = max(self.most_at_once, self.running)
            try:
                await self.let_go.wait()
                return name
            finally:
                self.running -= 1
                self.ended.append(name)

        return run


async def settled() -> None:
    """Lets everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def quick() -> str:
    return "done"


@pytest.mark.parametrize("limit", [1, 3, 10, 50])
async def test_at_most_so_many_jobs_run_at_once_and_all_do_in_the_end(limit: int) -> None:
    pool, jobs = Pool(limit), Jobs()
    running = asyncio.gather(*(pool.run(jobs.job(number)) for number in range(20)))
    await settled()
    assert jobs.running == min(limit, 20)
    jobs.let_go.set()
    assert await running == list(range(20))
    assert jobs.most_at_once == min(limit, 20)
    assert not pool._running


async def test_jobs_start_in_the_order_they_were_handed_in() -> None:
    pool, jobs = Pool(2), Jobs()
    jobs.let_go.set()
    await asyncio.gather(*(pool.run(jobs.job(number)) for number in range(20)))
    assert jobs.started == list(range(20))


@pytest.mark.parametrize("limit", [0, -1])
def test_a_pool_without_room_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="at least one job"):
        Pool(limit)


async def test_what_a_job_raises_is_raised_to_its_caller_alone_and_frees_its_place() -> None:
    async def fail() -> None:
        raise LookupError("no such thing")

    pool = Pool(1)
    failed, done = await asyncio.gather(pool.run(fail), pool.run(quick), return_exceptions=True)
    assert isinstance(failed, LookupError)
    assert done == "done"


async def test_a_job_that_fails_before_it_is_awaited_frees_its_place() -> None:
    def refuse() -> Awaitable[None]:
        raise LookupError

    pool = Pool(1)
    with pytest.raises(LookupError):
        await pool.run(refuse)
    assert await pool.run(quick) == "done"


async def test_stop_lets_running_jobs_finish_and_starts_no_more() -> None:
    pool, jobs = Pool(2), Jobs()
    running = asyncio.gather(*(pool.run(jobs.job(number)) for number in range(4)))
    await settled()
    pool.stop("enough")
    pool.stop("too late to say why")
    jobs.let_go.set()
    never = PoolStopped("enough", started=False)
    assert await running == [0, 1, never, never]
    assert jobs.started == [0, 1]
    assert await pool.run(quick) == never


async def test_cancel_ends_running_jobs_and_their_clean_up_runs() -> None:
    pool, jobs = Pool(2), Jobs()
    running = asyncio.gather(*(pool.run(jobs.job(number)) for number in range(4)))
    await settled()
    pool.cancel("the user said so")
    ended, never = PoolStopped("the user said so", started=True), PoolStopped("the user said so", started=False)
    assert await running == [ended, ended, never, never]
    assert jobs.started == sorted(jobs.ended) == [0, 1]


async def test_what_is_ended_in_the_middle_is_told_who_ended_it_and_the_others_what_stopped_them() -> None:
    pool, jobs = Pool(1), Jobs()
    running = asyncio.gather(*(pool.run(jobs.job(number)) for number in range(2)))
    await settled()
    pool.stop("the money is spent")
    pool.cancel("the user said so")
    assert await running == [
        PoolStopped("the user said so", started=True),
        PoolStopped("the money is spent", started=False),
    ]


async def test_what_finished_before_the_cancel_is_not_lost() -> None:
    pool, jobs = Pool(2), Jobs()
    running = asyncio.gather(pool.run(quick), pool.run(jobs.job("slow")))
    await settled()
    pool.cancel("enough")
    assert await running == ["done", PoolStopped("enough", started=True)]


async def test_a_job_may_finish_its_work_when_it_is_cancelled() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "saved"
        return "never"

    pool = Pool(1)
    running = asyncio.ensure_future(pool.run(stubborn))
    await settled()
    pool.cancel("enough")
    assert await running == "saved"


async def test_a_job_that_fails_while_it_is_cancelled_says_so() -> None:
    async def clumsy() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise LookupError("while cleaning up")

    pool = Pool(1)
    running = asyncio.ensure_future(pool.run(clumsy))
    await settled()
    pool.cancel("enough")
    with pytest.raises(LookupError, match="cleaning up"):
        await running


@pytest.mark.parametrize("limit", [1, 2], ids=["while one waits for its turn", "while both run"])
async def test_a_caller_that_is_cancelled_ends_and_so_does_its_job(limit: int) -> None:
    pool, jobs = Pool(limit), Jobs()
    kept = asyncio.ensure_future(pool.run(jobs.job("kept")))
    cancelled = asyncio.ensure_future(pool.run(jobs.job("cancelled")))
    await settled()
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert jobs.running == 1
    jobs.let_go.set()
    assert await kept == "kept"
    assert await pool.run(quick) == "done"


async def test_a_caller_that_is_cancelled_together_with_the_pool_is_still_cancelled() -> None:
    pool, jobs = Pool(1), Jobs()
    running = asyncio.ensure_future(pool.run(jobs.job("job")))
    await settled()
    running.cancel()
    pool.cancel("enough")
    with pytest.raises(asyncio.CancelledError):
        await running
    assert jobs.ended == ["job"]


async def test_a_time_out_around_a_job_is_a_time_out() -> None:
    pool, jobs = Pool(1), Jobs()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await pool.run(jobs.job("too long"))
    assert jobs.running == 0
    assert await pool.run(quick) == "done"


async def test_a_time_out_inside_a_job_is_the_jobs_own() -> None:
    async def impatient() -> str:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            return "gave up"
        return "never"

    assert await Pool(1).run(impatient) == "gave up"


async def test_a_spent_budget_stops_new_work_and_says_so() -> None:
    pool = Pool(1, Budget(0.25))

    async def costly() -> str:
        pool.budget.spend(0.125)
        return "done"

    results = [await pool.run(costly) for _ in range(4)]
    spent = PoolStopped("the budget of $0.25 is spent", started=False)
    assert results == ["done", "done", spent, spent]
    assert pool.budget.spent == 0.25


async def test_a_budget_of_nothing_starts_nothing() -> None:
    assert await Pool(1, Budget(0)).run(quick) == PoolStopped("the budget of $0 is spent", started=False)


async def test_without_a_limit_money_stops_nothing() -> None:
    pool = Pool(1)
    pool.budget.spend(1e9)
    assert await pool.run(quick) == "done"


def test_costs_that_are_not_known_are_counted_apart() -> None:
    budget = Budget(1.0)
    for cost in (0.5, None, 0.25, None):
        budget.spend(cost)
    assert (budget.spent, budget.unpriced, budget.exhausted) == (0.75, 2, False)


async def test_together_gives_all_values_in_the_order_given() -> None:
    arrived: list[int] = []
    everyone = asyncio.Event()

    async def wait_for_the_others(number: int) -> int:
        arrived.append(number)
        if len(arrived) == 5:
            everyone.set()
        await everyone.wait()
        return number

    assert await gather(wait_for_the_others(number) for number in range(5)) == [0, 1, 2, 3, 4]


async def test_together_nothing_is_nothing() -> None:
    assert await gather([]) == []


async def test_together_the_first_to_fail_ends_the_others_and_is_raised_as_itself() -> None:
    jobs = Jobs()
    failure = LookupError("no such thing")

    async def fail() -> None:
        await settled()
        raise failure

    async def wait() -> None:
        await jobs.job("other")()

    with pytest.raises(LookupError) as raised:
        await gather([wait(), fail(), wait()])
    assert raised.value is failure
    assert jobs.ended == ["other", "other"]


async def test_together_is_cancelled_as_a_whole() -> None:
    jobs = Jobs()

    async def wait() -> None:
        await jobs.job("job")()

    running = asyncio.ensure_future(gather([wait(), wait()]))
    await settled()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert jobs.ended == ["job", "job"]
