"""An agent that uses the tools of an MCP server as it would any other. It is scripted, so it needs no key."""

from salvo import AdapterRequest, AdapterResponse, BaseAdapter


class WarehouseAgent(BaseAdapter):
    async def run(self, request: AdapterRequest) -> AdapterResponse:
        use = self.context.toolbox.call
        product = await use("find_product", {"sku": "KETTLE-2"})
        if product.error:  # once more
            product = await use("find_product", {"sku": "KETTLE-2"})
        if product.error or not product.result["left"]:
            return AdapterResponse(final_output=f"{request.user_message} Sorry, it is sold out.")
        reserved = await use("reserve", {"sku": "KETTLE-2"})
        return AdapterResponse(final_output=f"It is reserved; {reserved.result['left']} are left.")
