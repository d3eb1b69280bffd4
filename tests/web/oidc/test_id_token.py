"""Which ID tokens are valid."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from salvo.web.oidc.id_token import ALGORITHMS, LEEWAY_SECONDS, IdTokenError, validate_id_token
from tests.support.oidc import signing_key, unsigned

ISSUER, CLIENT, NONCE, NOW = "https://login.example.com", "salvo", "the-nonce", 1_800_000_000
CLAIMS = {"iss": ISSUER, "aud": CLIENT, "sub": "ada", "nonce": NONCE, "iat": NOW, "exp": NOW + 300}


def sign(claims: dict[str, Any], key: RSAKey | ECKey | None = None, **header: Any) -> str:
    header = {"alg": "RS256", "kid": "first", **header}
    return jwt.encode(header, claims, key or signing_key("first"), [header["alg"]])


def public(key: RSAKey | ECKey | None = None, **fields: Any) -> dict[str, Any]:
    return {**(key or signing_key("first")).as_dict(private=False), **fields}


def validate(token: str, *keys: Any, access_token: str | None = None) -> Any:
    key_set = {"keys": list(keys or (public(),))}
    return validate_id_token(
        token, key_set, issuer=ISSUER, client_id=CLIENT, nonce=NONCE, access_token=access_token, now=NOW
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_token_with_each_accepted_algorithm_is_valid(algorithm: str) -> None:
    curve = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}.get(algorithm)
    key = signing_key("first") if curve is None else ECKey.generate_key(curve, {"kid": "first"})
    assert validate(sign(CLAIMS, key, alg=algorithm), public(key))["sub"] == "ada"


def test_the_key_is_found_by_its_id_or_among_all_among_strange_ones() -> None:
    strange = [7, {}, {"kty": "XYZ", "kid": "first"}, {"kty": "RSA", "kid": "first"}, {"kty": "oct", "k": "AAAA"}]
    other = public(signing_key("another"), kid="another")
    assert validate(sign(CLAIMS), *strange, other, public())["sub"] == "ada"
    without_id = jwt.encode({"alg": "RS256"}, CLAIMS, signing_key("first"), ["RS256"])
    assert validate(without_id, *strange, other, public())["sub"] == "ada"


@pytest.mark.filterwarnings("ignore:Key size")
def test_keys_that_are_weak_or_for_something_else_verify_nothing() -> None:
    weak = RSAKey.generate_key(1024, {"kid": "first"})
    for token, key in (
        (sign(CLAIMS, weak), public(weak)),
        (sign(CLAIMS), public(use="enc")),
        (sign(CLAIMS), public(kid="another")),
        (sign(CLAIMS), public(alg="RS512")),
        (sign(CLAIMS, jwk=public()), public(signing_key("another"), kid="first")),
    ):
        with pytest.raises(IdTokenError, match="no key of the provider verifies its signature"):
            validate(token, key)


@pytest.mark.parametrize(
    "changed, claim",
    [
        ({"exp": NOW - LEEWAY_SECONDS}, "exp"),
        ({"exp": None}, "exp"),
        ({"exp": "tomorrow"}, "exp"),
        ({"exp": True}, "exp"),
        ({"exp": float("inf")}, "exp"),
        ({"exp": float("nan")}, "exp"),
        ({"iat": NOW + LEEWAY_SECONDS + 1}, "iat"),
        ({"nbf": NOW + LEEWAY_SECONDS + 1}, "nbf"),
        ({"iss": [ISSUER]}, "iss"),
        ({"iss": ISSUER + "/"}, "iss"),
        ({"aud": []}, "aud"),
        ({"aud": [CLIENT, 7]}, "aud"),
        ({"aud": {CLIENT: 1}}, "aud"),
        ({"aud": [CLIENT, "another"]}, "azp"),
        ({"azp": "another"}, "azp"),
        ({"nonce": None}, "nonce"),
        ({"nonce": [NONCE]}, "nonce"),
        ({"sub": None}, "sub"),
        ({"sub": 7}, "sub"),
        ({"at_hash": "wrong"}, "at_hash"),
    ],
)
def test_a_claim_that_is_not_the_expected_one_is_named(changed: dict[str, Any], claim: str) -> None:
    claims = {name: value for name, value in {**CLAIMS, **changed}.items() if value is not None}
    with pytest.raises(IdTokenError, match=rf"its claim '{claim}' is missing or not the expected one"):
        validate(sign(claims), access_token="opaque")


@pytest.mark.parametrize("subject", ["", "x" * 256, "a\nb", "\x1b[2J"])
def test_a_subject_that_cannot_be_stored_or_shown_is_refused(subject: str) -> None:
    with pytest.raises(IdTokenError):
        validate(sign({**CLAIMS, "sub": subject}))


def test_clocks_may_differ_a_little_and_more_audiences_need_the_party() -> None:
    claims = {**CLAIMS, "exp": NOW - LEEWAY_SECONDS + 1, "iat": NOW + LEEWAY_SECONDS}
    assert validate(sign({**claims, "aud": [CLIENT, "another"], "azp": CLIENT}))["sub"] == "ada"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@given(
    st.dictionaries(st.sampled_from([*CLAIMS, "azp", "at_hash", "auth_time", "amr", "nbf", "x"]), JSON),
    st.lists(st.dictionaries(st.sampled_from(["kty", "n", "e", "crv", "x", "y", "use", "kid", "alg"]), JSON) | JSON),
    st.text(max_size=60),
)
def test_no_hostile_token_or_key_set_breaks_anything(claims: dict[str, Any], keys: list[Any], text: str) -> None:
    for token in (
        sign({**CLAIMS, "sub": None, **claims}),
        unsigned(claims),
        text,
        f"{text}.{text}.{text}",
        sign(CLAIMS)[:-9],
    ):
        for key_set in ({"keys": [*keys, public()]}, {"keys": keys}, {"keys": text}, {}):
            try:
                valid = validate_id_token(
                    token, key_set, issuer=ISSUER, client_id=CLIENT, nonce=NONCE, access_token=None, now=NOW
                )
            except IdTokenError:
                continue
            assert (valid["iss"], valid["nonce"]) == (ISSUER, NONCE)
