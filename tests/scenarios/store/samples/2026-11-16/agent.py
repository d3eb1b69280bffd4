from salvo import AdapterRequest, AdapterResponse, BaseAdapter


class Echo(BaseAdapter):
    async def run(self, request: AdapterRequest) -> AdapterResponse:
        return AdapterResponse(final_output="hello" if request.seed != 8 else "goodbye")
