"""The loopback proxy sees who goes through it."""

import ssl

from tests.support.http_client import OPENAI_BODY, OPENAI_HEADERS, post
from tests.support.provider import LoopbackProvider, Say
from tests.support.proxy import ConnectProxy


async def test_https_goes_through_a_tunnel() -> None:
    with LoopbackProvider(Say("Hello."), tls=True) as provider, ConnectProxy() as proxy:
        trusting = ssl.create_default_context(cafile=provider.ca_file)
        url = f"{provider.openai_url}/chat/completions"
        answers = [await post(url, OPENAI_BODY, OPENAI_HEADERS, ssl=trusting, proxy=proxy.url) for _ in range(2)]
    assert [answer.status for answer in answers] == [200, 200]
    assert proxy.tunnels == [f"127.0.0.1:{provider.port}"] * 2
    assert proxy.forwards == []


async def test_plain_http_is_forwarded() -> None:
    with LoopbackProvider(Say("Hello.")) as provider, ConnectProxy() as proxy:
        url = f"{provider.openai_url}/chat/completions"
        answer = await post(url, OPENAI_BODY, OPENAI_HEADERS, proxy=proxy.url)
    assert answer.status == 200
    assert (proxy.forwards, proxy.tunnels) == ([url], [])
    assert provider.requests[0].key == "sk-test-0123456789"
