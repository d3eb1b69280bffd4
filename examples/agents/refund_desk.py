"""An agent that reads its instructions, scripted and seeded: it needs no key, and is repeatable."""

import re

from salvo import AdapterRequest, AdapterResponse, BaseAdapter


class RefundDesk(BaseAdapter):
    async def run(self, request: AdapterRequest) -> AdapterResponse:
        message = request.user_message
        order = re.search(r"order (\S+)", message)
        days = re.search(r"(\d+) days", message)
        is_late = days is not None and int(days[1]) > 30
        knows_rules = "30 days" in request.system_prompt
        # Without the rules it guesses: it refuses what is very late, and now and then what is a little late.
        refuses = is_late if knows_rules else is_late and (int(days[1]) > 100 or (request.seed or 0) % 3 == 0)
        if knows_rules and "software" in message:
            # With them, it forgets the last one once in a while.
            refuses = (request.seed or 0) % 5 != 0
        decision = "refuse" if refuses else "refund"
        return AdapterResponse(final_output={"decision": decision, "order": order[1] if order else None})
