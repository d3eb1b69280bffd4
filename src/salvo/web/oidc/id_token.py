"""Validating ID tokens: who signed them, for whom, when, and for which login. Pure.

Only signatures by a provider's private key count. `none` and the HMAC algorithms, whose key would be a public one or
the client's secret, are not on the list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import ClaimError, JoseError
from joserfc.jwk import JWKRegistry, Key
from joserfc.jws import JWSRegistry, extract_compact
from joserfc.util import base64_to_int

from salvo.errors import SalvoError

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
LEEWAY_SECONDS = 60
"""The clocks of two machines may differ."""
_MAX_KEYS = 100
_MIN_RSA_BITS = 2048
_MAX_SUBJECT = 255

# What the libraries raise for hostile values, beside their own errors.
_UNREADABLE = (JoseError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)


class IdTokenError(SalvoError):
    """An ID token is not valid. The message says why, without anything of the token."""


class _Registry(JWSRegistry):
    max_header_length = 16_384  # some providers put their certificates there


_REGISTRY = _Registry(algorithms=ALGORITHMS, strict_check_header=False)


def validate_id_token(
    token: str,
    key_set: Mapping[str, Any],
    *,
    issuer: str,
    client_id: str,
    nonce: str,
    access_token: str | None,
    now: float,
) -> Mapping[str, Any]:
    """Return the claims of a token that this provider signed for this login here. IdTokenError otherwise."""
    verified = _verify(token, key_set)
    options = {"iss": {"essential": True, "value": issuer}, "aud": {"essential": True, "value": client_id}}
    params = {"nonce": nonce, "client_id": client_id, "access_token": access_token}
    claims = CodeIDToken(verified.claims, verified.header, options, params)
    try:
        claims.validate(now=int(now), leeway=LEEWAY_SECONDS)
    except ClaimError as error:
        raise IdTokenError(f"its claim {error.claim!r} is missing or not the expected one") from error
    except _UNREADABLE as error:
        raise IdTokenError("its claims cannot be read") from error
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= _MAX_SUBJECT or not subject.isprintable():
        raise IdTokenError("its subject is not usable")
    return dict(claims)


def _verify(token: str, key_set: Mapping[str, Any]) -> jwt.Token:
    try:
        header = extract_compact(token.encode(), registry=_REGISTRY).headers()
    except _UNREADABLE as error:
        raise IdTokenError("it is not a signed token") from error
    if header.get("alg") not in ALGORITHMS:
        raise IdTokenError("it is not signed with an algorithm that is accepted")
    for key in _keys(key_set, header.get("kid")):
        try:
            return jwt.decode(token, key, registry=_REGISTRY)
        except _UNREADABLE:
            continue
    raise IdTokenError("no key of the provider verifies its signature")


def _keys(key_set: Mapping[str, Any], key_id: object) -> Sequence[Key]:
    """Return the provider's keys for signatures: that with the id, if the token names one."""
    entries = key_set.get("keys")
    keys = []
    for entry in entries[:_MAX_KEYS] if isinstance(entries, list) else ():
        if not isinstance(entry, dict) or entry.get("kty") not in ("RSA", "EC") or entry.get("use", "sig") != "sig":
            continue
        if key_id is not None and entry.get("kid") != key_id:
            continue
        try:
            if entry["kty"] == "EC" or base64_to_int(entry["n"]).bit_length() >= _MIN_RSA_BITS:
                keys.append(JWKRegistry.import_key(entry))
        except _UNREADABLE:
            continue
    return keys
