"""Requests to an OIDC provider: its description, its keys, and the exchange of a code for an ID token.

All of them go through the wire. Nothing that the provider answers is trusted before it was checked.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from authlib.common.urls import add_params_to_uri, quote, url_encode
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.discovery import get_well_known_url

from salvo.engine.runtime.clock import Clock
from salvo.engine.runtime.redact import Redactor
from salvo.engine.wire import http_wire
from salvo.engine.wire.addresses import is_encrypted_or_loopback, split_origin
from salvo.engine.wire.base import Endpoint, HttpOptions, Timeouts, WireReply, WireRequest
from salvo.errors import WireError
from salvo.playbooks.accounts.pending_logins import PendingLogin
from salvo.records import record
from salvo.web.oidc.id_token import IdTokenError, validate_id_token
from salvo.web.oidc.settings import OidcSettings
from salvo.web.responses import LoginProviderError

TIMEOUTS = Timeouts(connect=5.0, read=10.0, total=15.0)
_HTTP = HttpOptions(max_reply_bytes=1024 * 1024)
_DESCRIPTION_LIFETIME = timedelta(minutes=10)
_MAX_REQUESTS = 8
"""Logins that ask the provider at the same time. Anybody can begin one."""
_ENDPOINT = "The login provider"
_FORM = {"content-type": "application/x-www-form-urlencoded"}


@record
class _Description:
    """What is used of the provider's description of itself."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    takes_basic: bool
    """Whether the client authenticates in a header; otherwise in the body."""


class OidcProvider:
    def __init__(self, settings: OidcSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._redactor = Redactor([settings.client_secret])
        self._requests = asyncio.Semaphore(_MAX_REQUESTS)
        self._description: tuple[_Description, datetime] | None = None

    async def authorization_url(self, login: PendingLogin) -> str:
        """Return the provider's address at which somebody logs in."""
        description = await self._describe()
        parameters = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": login.redirect_url,
            "scope": " ".join(self._settings.scopes),
            "state": login.state,
            "nonce": login.nonce,
            "code_challenge": create_s256_code_challenge(login.code_verifier),
            "code_challenge_method": "S256",
        }
        return str(add_params_to_uri(description.authorization_endpoint, list(parameters.items())))

    async def fetch_claims(self, code: str, login: PendingLogin) -> Mapping[str, Any]:
        """Exchange the code for an ID token, and return its claims once it was validated."""
        description = await self._describe()
        tokens = await self._exchange(description, code, login)
        token, access_token = tokens.get("id_token"), tokens.get("access_token")
        if not isinstance(token, str):
            raise self._unusable("sent no ID token")
        key_set = await self._send("its keys", description.jwks_uri)  # new each time: they are replaced now and then
        try:
            return validate_id_token(
                token,
                key_set,
                issuer=self._settings.issuer,
                client_id=self._settings.client_id,
                nonce=login.nonce,
                access_token=access_token if isinstance(access_token, str) else None,
                now=self._clock.now().timestamp(),
            )
        except IdTokenError as error:
            raise self._unusable(f"sent an ID token that is not valid: {error.message}") from error

    async def _describe(self) -> _Description:
        now = self._clock.now()
        if self._description is not None and now < self._description[1]:
            return self._description[0]
        url = get_well_known_url(self._settings.issuer, external=True)
        description = self._checked_description(await self._send("its description", url))
        self._description = (description, now + _DESCRIPTION_LIFETIME)
        return description

    def _checked_description(self, content: Mapping[str, Any]) -> _Description:
        issuer = content.get("issuer")
        if issuer != self._settings.issuer:
            raise self._unusable(f"calls itself {str(issuer)[:200]!r}, not {self._settings.issuer!r}")
        urls = {}
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            url = content.get(name)
            if not isinstance(url, str) or not is_encrypted_or_loopback(url):
                raise self._unusable(f"describes itself with no usable {name}")
            urls[name] = url
        methods = content.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        takes_basic = not isinstance(methods, list) or "client_secret_post" not in methods
        return _Description(**urls, takes_basic=takes_basic or "client_secret_basic" in methods)

    async def _exchange(self, description: _Description, code: str, login: PendingLogin) -> Mapping[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": login.redirect_url,
            "client_id": self._settings.client_id,
            "code_verifier": login.code_verifier,
        }
        key = None
        secret = {}
        if description.takes_basic:
            name, password = quote(self._settings.client_id, b""), quote(self._settings.client_secret, b"")
            key = b64encode(f"{name}:{password}".encode()).decode()
        else:
            secret = {"client_secret": self._settings.client_secret}
        return await self._send("an ID token", description.token_endpoint, form=form, secret=secret, key=key)

    async def _send(
        self,
        what: str,
        url: str,
        *,
        form: Mapping[str, str] | None = None,
        secret: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> Mapping[str, Any]:
        """Return the JSON object that the provider answers. The key and the secret are added at the socket."""
        origin, path = split_origin(url)
        endpoints = {_ENDPOINT: Endpoint(origin, key, key_prefix="Basic ")}
        request = WireRequest(_ENDPOINT, path, method="GET", headers={}, timeouts=TIMEOUTS)
        if form is not None:
            request = WireRequest(
                _ENDPOINT,
                path,
                dict(form),
                headers=_FORM,
                timeouts=TIMEOUTS,
                as_sent=lambda body: url_encode(list({**body, **(secret or {})}.items())).encode(),
            )
        async with (
            self._requests,
            http_wire(endpoints, self._redactor, self._clock, _HTTP) as wire,
        ):
            try:
                reply = await wire.send(request)
            except WireError as error:
                raise LoginProviderError(error.message, hint=_TRY_AGAIN) from error
        return self._json(reply, what)

    def _json(self, reply: WireReply, what: str) -> Mapping[str, Any]:
        if reply.status != 200:
            raise self._unusable(f"was asked for {what} and answered with status {reply.status}")
        try:
            content = reply.json()
        except (ValueError, RecursionError) as error:
            raise self._unusable(f"was asked for {what} and did not answer with JSON") from error
        if not isinstance(content, dict):
            raise self._unusable(f"was asked for {what} and did not answer with a JSON object")
        return content

    def _unusable(self, what: str) -> LoginProviderError:
        return LoginProviderError(f"{self._settings.label} {what}.", hint=_TRY_AGAIN)


_TRY_AGAIN = "Try again. If it keeps happening, tell whoever runs this server."
