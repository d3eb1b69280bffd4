"""The Chat Completions API's errors, in its words."""

from collections.abc import Iterable, Mapping
from typing import Any

from tests.support.provider.dialect import ApiError, retry_headers
from tests.support.provider.request import ProviderRequest
from tests.support.provider.script import Fault

CONTEXT_WINDOW = 128_000
JSON_TYPES = {
    str: "a string",
    bool: "a boolean",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def problem(
    message: str,
    *,
    status: int = 400,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> ApiError:
    return ApiError(status, {"message": message, "type": kind, "param": param, "code": code}, headers)


def missing(place: str) -> ApiError:
    return problem(f"Missing required parameter: '{place}'.", param=place, code="missing_required_parameter")


def unknown(place: str) -> ApiError:
    return problem(f"Unknown parameter: '{place}'.", param=place, code="unknown_parameter")


def wrong_type(place: str, expected: str, value: Any) -> ApiError:
    got = JSON_TYPES.get(type(value), "a number")
    return problem(
        f"Invalid type for '{place}': expected {expected}, but got {got} instead.",
        param=place,
        code="invalid_type",
    )


def invalid_value(place: str, value: Any, supported: Iterable[str]) -> ApiError:
    choices = ", ".join(f"'{choice}'" for choice in supported)
    return problem(f"Invalid value: '{value}'. Supported values are: {choices}.", param=place, code="invalid_value")


def empty_array(place: str) -> ApiError:
    return problem(
        f"Invalid '{place}': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        param=place,
        code="empty_array",
    )


def invalid_key(key: str | None) -> ApiError:
    if key is None:
        return problem(
            "You didn't provide an API key. You need to provide your API key in an Authorization header using "
            "Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            status=401,
        )
    shown = f"{key[:3]}{'*' * 8}{key[-4:]}"
    return problem(
        f"Incorrect API key provided: {shown}. "
        "You can find your API key at https://platform.openai.com/account/api-keys.",
        status=401,
        code="invalid_api_key",
    )


def unknown_model(model: str) -> ApiError:
    return problem(
        f"The model `{model}` does not exist or you do not have access to it.",
        status=404,
        code="model_not_found",
    )


def unsupported(parameter: str, value: Any) -> ApiError:
    """A parameter that exists, but not for this model: not at all, or only with its default value."""
    if parameter == "temperature":
        return problem(
            f"Unsupported value: 'temperature' does not support {value} with this model. "
            "Only the default (1) value is supported.",
            param=parameter,
            code="unsupported_value",
        )
    instead = " Use 'max_completion_tokens' instead." if parameter == "max_tokens" else ""
    return problem(
        f"Unsupported parameter: '{parameter}' is not supported with this model.{instead}",
        param=parameter,
        code="unsupported_parameter",
    )


def of_fault(fault: Fault, request: ProviderRequest) -> ApiError:
    match fault.kind:
        case "unauthorized":
            return invalid_key(request.key)
        case "unknown_model":
            return unknown_model(request.model)
        case "refused_parameter":
            return unsupported(fault.parameter, request.body.get(fault.parameter, 0))
        case "rate_limited":
            return problem(
                f"Rate limit reached for {request.model} in organization org-loopback on requests per min (RPM): "
                "Limit 3, Used 3, Requested 1. Please try again in 20s. "
                "Visit https://platform.openai.com/account/rate-limits to learn more.",
                status=429,
                kind="requests",
                code="rate_limit_exceeded",
                headers=retry_headers(fault),
            )
        case "quota":
            return problem(
                "You exceeded your current quota, please check your plan and billing details. For more "
                "information on this error, read the docs: "
                "https://platform.openai.com/docs/guides/error-codes/api-errors.",
                status=429,
                kind="insufficient_quota",
                code="insufficient_quota",
            )
        case "overloaded":
            return problem(
                "The engine is currently overloaded, please try again later",
                status=503,
                kind="service_unavailable",
            )
        case "context_too_long":
            return problem(
                f"This model's maximum context length is {CONTEXT_WINDOW} tokens. However, your messages "
                f"resulted in {CONTEXT_WINDOW + 1} tokens. Please reduce the length of the messages.",
                param="messages",
                code="context_length_exceeded",
            )
        case _:
            return problem(
                "The server had an error while processing your request. Sorry about that!",
                status=fault.status,
                kind="server_error",
            )
