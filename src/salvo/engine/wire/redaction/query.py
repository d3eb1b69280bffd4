"""Remove credentials from the query of a path, such as `?key=…`, before it is stored or put into a message."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

from salvo.engine.runtime.redact import PLACEHOLDER, Redactor

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_WORDS = frozenset({
    "key", "keys", "apikey", "token", "accesstoken", "jwt", "bearer", "auth", "authorization", "session", "code",
    "secret", "password", "passwd", "passphrase", "pass", "pwd", "credential", "credentials", "sig", "signature",
})  # fmt: skip


def redact_query(path: str, redactor: Redactor) -> str:
    """Return the path with placeholders for the credentials in its query. Redacting twice changes nothing."""
    bare_path, mark, query = path.partition("?")
    if not mark:
        return path
    return f"{bare_path}?{'&'.join(_parameter(parameter, redactor) for parameter in query.split('&'))}"


def _parameter(parameter: str, redactor: Redactor) -> str:
    name, equals, value = parameter.partition("=")
    decoded = unquote_plus(value)
    if value and (_is_secret(unquote_plus(name)) or redactor.text(decoded) != decoded):
        return f"{redactor.text(name)}={PLACEHOLDER}"
    # Without a value, the name itself may be the credential.
    decoded_name = unquote_plus(name)
    clean_name = name if redactor.text(decoded_name) == decoded_name else PLACEHOLDER
    return f"{clean_name}{equals}{value}"


def _is_secret(name: str) -> bool:
    """Return whether a parameter of this name holds a credential: `key`, `access_token`, `X-Amz-Signature`."""
    return any(word.lower() in _SECRET_WORDS for word in _WORDS.findall(name))
