"""What the server asks of a protocol, and how a protocol says no."""

from collections.abc import Mapping
from typing import Any, Protocol

from tests.support.provider.request import ProtocolName, ProviderRequest
from tests.support.provider.script import Fault, Reply
from tests.support.provider.tokens import Prompt


class ApiError(Exception):
    """The API answers with an error: its status, its error object, and headers beside the usual ones."""

    def __init__(self, status: int, error: dict[str, Any], headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{status}: {error['message']}")
        self.status = status
        self.error = error
        self.headers = headers or {}


class Dialect(Protocol):
    """One of the two protocols, with what a provider remembers between calls: its cache, what it signed."""

    @property
    def name(self) -> ProtocolName: ...

    @property
    def path(self) -> str: ...

    @property
    def request_id_header(self) -> str: ...

    def key(self, headers: Mapping[str, str]) -> str | None:
        """The API key as sent, if any was."""

    def check(self, request: ProviderRequest) -> None:
        """Raise ApiError where the real API would, before any model has seen the request."""

    def prompt(self, request: ProviderRequest) -> Prompt:
        """Count a checked request's prompt, and find what of it is cached right now."""

    def reply(self, reply: Reply, request: ProviderRequest, prompt: Prompt) -> dict[str, Any]:
        """The body of a good answer. From here on the prompt is cached."""

    def error_for(self, fault: Fault, request: ProviderRequest) -> ApiError:
        """A scripted fault in the API's own status and words."""

    def unreadable(self) -> ApiError:
        """The body is not a JSON object."""

    def unknown_address(self, method: str, path: str) -> ApiError:
        """Nothing is served at this address."""

    def error_body(self, error: dict[str, Any], request_id: str) -> dict[str, Any]:
        """The error object in the envelope that the protocol sends it in."""


def retry_headers(fault: Fault) -> dict[str, str]:
    said = {"retry-after": fault.retry_after, "retry-after-ms": fault.retry_after_ms}
    return {header: str(value) for header, value in said.items() if value is not None}
