"""The Messages API's errors, in its words."""

from collections.abc import Iterable, Mapping

from tests.support.provider.dialect import ApiError, retry_headers
from tests.support.provider.request import ProviderRequest
from tests.support.provider.script import Fault

CONTEXT_WINDOW = 200_000
KINDS = {408: "timeout_error", 409: "conflict_error", 504: "timeout_error", 529: "overloaded_error"}


def problem(
    message: str,
    *,
    status: int = 400,
    kind: str = "invalid_request_error",
    headers: Mapping[str, str] | None = None,
) -> ApiError:
    return ApiError(status, {"type": kind, "message": message}, headers)


def extra(place: str) -> ApiError:
    return problem(f"{place}: Extra inputs are not permitted")


def missing(place: str) -> ApiError:
    return problem(f"{place}: Field required")


def invalid(place: str, expected: str) -> ApiError:
    return problem(f"{place}: Input should be {expected}")


def unknown_tag(place: str, tag: str, known: Iterable[str]) -> ApiError:
    expected = ", ".join(f"'{name}'" for name in known)
    return problem(f"{place}: Input tag '{tag}' found using 'type' does not match any of the expected tags: {expected}")


def invalid_key(key: str | None) -> ApiError:
    message = "x-api-key header is required" if key is None else "invalid x-api-key"
    return problem(message, status=401, kind="authentication_error")


def unknown_model(model: str) -> ApiError:
    return problem(f"model: {model}", status=404, kind="not_found_error")


def deprecated(parameter: str) -> ApiError:
    return problem(f"`{parameter}` is deprecated for this model.")


def of_fault(fault: Fault, request: ProviderRequest) -> ApiError:
    match fault.kind:
        case "unauthorized":
            return invalid_key(request.key)
        case "unknown_model":
            return unknown_model(request.model)
        case "refused_parameter":
            return deprecated(fault.parameter)
        case "rate_limited":
            return problem(
                "This request would exceed your organization's rate limit of 50 requests per minute. "
                "For details, refer to: https://docs.claude.com/en/api/rate-limits.",
                status=429,
                kind="rate_limit_error",
                headers=retry_headers(fault),
            )
        case "quota":
            return problem(
                "Your credit balance is too low to access the Anthropic API. "
                "Please go to Plans & Billing to upgrade or purchase credits."
            )
        case "overloaded":
            return problem("Overloaded", status=529, kind="overloaded_error")
        case "context_too_long":
            return problem(f"prompt is too long: {CONTEXT_WINDOW + 1} tokens > {CONTEXT_WINDOW} maximum")
        case _:
            kind = KINDS.get(fault.status, "api_error")
            return problem("Internal server error", status=fault.status, kind=kind)
