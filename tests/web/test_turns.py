"""Small steps instead of a burst."""

import asyncio
from itertools import pairwise

from salvo.web.turns import Turns


async def test_between_two_turns_everybody_else_has_one() -> None:
    turns = Turns()
    happened: list[str] = []

    async def evaluation() -> None:
        await turns.next()
        happened.append("step")

    async def page() -> None:
        while happened.count("step") < 5:
            happened.append("page")
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(5):
            tasks.create_task(evaluation())
        tasks.create_task(page())
    steps = [number for number, name in enumerate(happened) if name == "step"]
    assert len(steps) == 5
    assert all(later - earlier > 1 for earlier, later in pairwise(steps))
