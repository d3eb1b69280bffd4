"""An agent that holds a conversation, scripted and seeded: it needs no key, and is repeatable."""

import re

from salvo import BaseAdapter


class ReturnsDesk(BaseAdapter):
    """One object lives for the whole conversation, so it can remember what was said."""

    def __init__(self) -> None:
        self.order: str | None = None

    async def respond(self, message: str) -> str:
        found = re.search(r"A-\d+", message)
        if found and self.order is None:
            self.order = found[0]
        if self.order is None:
            return "I am sorry to hear that. Which order is it?"
        if "money" not in message.lower():
            call = await self.context.toolbox.call("find_order", {"id": self.order})
            return f"I found it: a {call.result['item']} for ${call.result['price']}. A new one, or your money back?"
        if (self.context.seed or 0) % 7 == 0:
            # Once in a while it forgets what it found, and asks again.
            self.order = None
            return "Which order is it?"
        await self.context.toolbox.call("issue_refund", {"id": self.order})
        return f"Done. You get the money for {self.order} within five days."


class Customer:
    """A user in Python: it decides by what the agent said."""

    def __init__(self, order: str) -> None:
        self.order = order

    def next_message(self, transcript: list[dict[str, str]]) -> str | None:
        if not transcript:
            return "My kettle leaks."
        last = transcript[-1]["content"]
        if "Which order" in last:
            return f"It is order {self.order}."
        return "My money back." if "money back?" in last else None
