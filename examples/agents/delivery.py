"""An agent as an adapter of one's own. It is scripted and seeded: it needs no key, and is repeatable."""

from salvo import AdapterRequest, AdapterResponse, BaseAdapter


class DeliveryAgent(BaseAdapter):
    async def run(self, request: AdapterRequest) -> AdapterResponse:
        use = self.context.toolbox.call
        found = await use("find_order", {"number": 1042})
        # It gives up now and then, where it should try once more.
        if found.error and (request.seed or 0) % 10 == 7:
            return AdapterResponse(final_output="The order could not be found.")
        if found.error:
            found = await use("find_order", {"number": 1042})
        await use("move_delivery", {"number": found.result["number"], "day": "Friday"})
        return AdapterResponse(final_output="The delivery comes on Friday.")
