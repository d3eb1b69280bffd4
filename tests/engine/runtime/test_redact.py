"""No secret survives, whatever it is nested in; and what is no secret stays as it is."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from salvo.engine.jsonio import json_codec
from salvo.engine.jsonio.canonical import stable_text
from salvo.engine.runtime.redact import PLACEHOLDER, Redactor, environment_secrets
from salvo.errors import InputError, UsageError


def escaped(text: str) -> str:
    """As the most anxious of JSON writers has it."""
    return re.sub("....", r"\\u\g<0>", text.encode("utf-16-be", "surrogatepass").hex())


RUN = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ2bC4eF6hJ8"
UPPER = "Q7W2E9R4T6Y1U3I5"

# What must not survive of each kind of key, and how it is written. Put together here, so that no scanner finds a key.
KEYS = {
    "openai": f"sk-{RUN}",
    "openai project": f"sk-proj-{RUN}_{RUN}-x",
    "anthropic": f"sk-ant-api03-{RUN}",
    "bearer": f"Bearer {RUN}",
    "bearer, loudly": f"BEARER {RUN}",
    "bearer, oddly": f"bearer  {RUN}.{RUN}+/==",
    "basic": f"Authorization: Basic {RUN}==",
    "api key header": f"x-api-key: {RUN}",
    "google api key header": f"X-Goog-Api-Key: {RUN}",
    "opaque authorization": f"Authorization: {RUN}",
    "cookie": f"Cookie: session={RUN}",
    "aws": f"AKIA{UPPER}",
    "aws, temporary": f"ASIA{UPPER}",
    "google": f"AIza{RUN}",
    "google oauth": f"ya29.{RUN}",
    "github": f"ghp_{RUN}",
    "github app": f"ghs_{RUN}",
    "github, fine-grained": f"github_pat_{RUN}_{RUN}",
    "gitlab": f"glpat-{RUN}",
    "slack": f"xoxb-{RUN}-{RUN}",
    "stripe": f"sk_live_{RUN}",
    "stripe, restricted": f"rk_test_{RUN}",
    "stripe webhook": f"whsec_{RUN}",
    "hugging face": f"hf_{RUN}",
    "groq": f"gsk_{RUN}",
    "xai": f"xai-{RUN}",
    "perplexity": f"pplx-{RUN}",
    "replicate": f"r8_{RUN}",
    "npm": f"npm_{RUN}",
    "pypi": f"pypi-{RUN}",
    "sendgrid": f"SG.{RUN}.{RUN}",
    "jwt": f"eyJ{RUN}.eyJ{RUN}.{RUN}",
    "url": f"postgres://admin:{RUN}@db.example.com/main",
    "url without a user": f"redis://:{RUN}@localhost:6379",
    "url with an @ in the password": f"https://me:a@{RUN}@example.com",
    "private key": f"-----BEGIN RSA PRIVATE KEY-----\n{RUN}\n{RUN}\n-----END RSA PRIVATE KEY-----",
    "private key, cut off": f"-----BEGIN PRIVATE KEY-----\n{RUN}",
    "pgp private key": f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{RUN}\n-----END PGP PRIVATE KEY BLOCK-----",
}
PLACES: dict[str, Callable[[str], Any]] = {
    "alone": lambda key: key,
    "in a sentence": lambda key: f"The key is {key}, so keep it.",
    "in quotes": lambda key: f"key='{key}'",
    "in a list in a dict": lambda key: {"a": [1, {"b": [None, key]}]},
    "as a name": lambda key: {key: 1},
    "in JSON in a string": lambda key: {"arguments": json.dumps({"q": f"use {key} now"})},
    "in JSON in JSON in a string": lambda key: json.dumps({"a": json.dumps([json.dumps({"b": key})])}),
    "as a name in JSON in a string": lambda key: [json.dumps({key: {key: 1}})],
    "in JSON as a name": lambda key: {json.dumps({"a": key}): 1},
    "in a JSON string in a string": lambda key: [json.dumps(f"{key} and more")],
    "in JSON amid text": lambda key: f'Error: {{"body": {json.dumps({"k": key})}, "cut": ',
    "in JSON in JSON amid text": lambda key: f"log {json.dumps(json.dumps({'k': key}))} end",
    "after escapes amid text": lambda key: f"log {json.dumps('lines' + chr(10) + key + chr(9) + key)} end",
    "after an escaped letter amid text": lambda key: f"log {json.dumps('é' + key)} end",
    "in JSON that escapes all": lambda key: [f'["{escaped(key)}"]'],
    "in JSON that escapes all, as a name": lambda key: {f'["{escaped(key)}"]': 1},
    "in JSON that escapes slashes": lambda key: [json.dumps({"k": key}).replace("/", "\\/")],
    "in text that escapes slashes": lambda key: f"log {json.dumps(key)} end".replace("/", "\\/"),
}


def everything_in(value: Any) -> Iterator[str]:
    """Every string that somebody could find in it: names, values, and those in JSON in strings, however deep."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from everything_in(name)
            yield from everything_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from everything_in(item)
    elif isinstance(value, str):
        yield value
        try:
            yield from everything_in(json.loads(value))
        except ValueError:
            return
    else:
        yield json.dumps(value)


def survives(secret: str, value: Any) -> bool:
    """Whether it is to be found anywhere; placeholders and their edges are no part of what is left."""
    texts = [*everything_in(value), json.dumps(value), json.dumps(value, ensure_ascii=False)]
    spellings = {secret}
    for _ in range(3):
        spellings |= {json.dumps(form, ensure_ascii=mode)[1:-1] for form in spellings for mode in (True, False)}
        spellings |= {form.replace("/", "\\/") for form in spellings}
    return any(spelling in part for text in texts for part in text.split(PLACEHOLDER) for spelling in spellings)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_does_not_survive(kind: str) -> None:
    redactor = Redactor()
    for place, put in PLACES.items():
        value = put(KEYS[kind])
        clean = redactor.json(value)
        assert not survives(UPPER if "aws" in kind else RUN, clean), place
        assert PLACEHOLDER in json.dumps(clean), place
        assert redactor.may_touch(stable_text(value)), place
        assert redactor.json(clean) == clean, place


@pytest.mark.parametrize(
    "secret",
    [
        "correct horse battery staple",
        'it"s "quoted" twice',
        "C:\\new\\table\\x",
        "two\nlines\tand a tab",
        "pässwörter-ßüß",
        "日本語のパスワード",
        "wJalr/XUtnFEMI/K7MDENG+bPx",
        "12345678",
        '{"type": "service_account", "id": 7}',
        '["one", "two"]',
        '"in its own quotes"',
        "\x00\x01\x7f\u2028 control",
    ],
)
def test_a_secret_of_the_environment_does_not_survive(secret: str) -> None:
    redactor = Redactor([secret])
    for place, put in PLACES.items():
        value = put(secret)
        clean = redactor.json(value)
        assert not survives(secret, clean), place
        assert redactor.may_touch(stable_text(value)), place
        assert redactor.json(clean) == clean, place


@pytest.mark.parametrize("number", [12345678, -12345678, 1234567890, 12345678.0, 0.12345678])
def test_a_secret_of_digits_does_not_survive_as_a_number(number: float) -> None:
    redactor = Redactor(["12345678"])
    value = {"a": [number], "b": json.dumps({"c": number})}
    assert redactor.json(value) == {"a": [PLACEHOLDER], "b": json_codec.dumps({"c": PLACEHOLDER}).decode()}
    assert redactor.may_touch(stable_text(value))


@pytest.mark.parametrize("secret", ["", "1234567", "true", "        ", "\n\n\n\n\n\n\n\n"])
def test_values_too_short_or_empty_are_no_secrets(secret: str) -> None:
    value = {"a": f"before {secret} after", secret: 1234567}
    assert Redactor([secret]).json(value) is value


@pytest.mark.parametrize("written", ["  s3cr3t-value  \n", '"s3cr3t-value"', "'s3cr3t-value'\n"])
def test_space_and_quotes_around_a_secret_do_not_protect_it(written: str) -> None:
    assert Redactor([written]).text("it is s3cr3t-value, really") == f"it is {PLACEHOLDER}, really"


def test_a_secret_inside_another_one_hides_no_less() -> None:
    assert Redactor(["password", "password-and-more"]).text("my password-and-more!") == f"my {PLACEHOLDER}!"


@pytest.mark.parametrize(
    "name",
    [
        *["OPENAI_API_KEY", "OPENAI_APIKEY", "api_key", "KEY", "GITHUB_TOKEN", "NPM_TOKEN", "AWS_SECRET_ACCESS_KEY"],
        *["CLIENT_SECRET", "CLIENTSECRET", "DB_PASSWORD", "PGPASSWORD", "DB_PASS", "MYSQL_PWD", "GPG_PASSPHRASE"],
        *["SMTP_PASSWD", "GOOGLE_CREDENTIALS", "SERVICE_CREDENTIAL_JSON", "BASIC_AUTH", "Secrets", "API_KEYS"],
        *["STRIPE_SECRET_KEY_2", "AUTHTOKEN", "TOKEN_FOR_CI"],
    ],
)
def test_the_value_of_a_variable_whose_name_looks_secret_is_a_secret(name: str) -> None:
    assert environment_secrets({name: "value"}) == ["value"]


@pytest.mark.parametrize(
    "name",
    [
        *["PWD", "OLDPWD", "MAX_TOKENS", "TOKENS_PER_MINUTE", "TOKENIZERS_PARALLELISM", "KEYBOARD_LAYOUT", "MONKEY"],
        *["GIT_AUTHOR_NAME", "SECRETARY", "COMPASS", "PASSENGER", "SSH_AUTH_SOCK", "SSL_KEY_FILE", "KEY_PATH", "HOME"],
        *["TOKEN_CACHE_DIR", ""],
    ],
)
def test_the_value_of_any_other_variable_is_none(name: str) -> None:
    assert environment_secrets({name: "value"}) == []


@pytest.mark.parametrize(
    "text",
    [
        "risk-assessment-framework-2026",
        "task-oriented and desk-bound, disk-based",
        "bearer instruments and bearer certificates",
        "BEARER INSTRUMENTS. Bearer-share holders; bearer shares/bonds.",
        "Authorization: required. Cookie: chocolate-chip. api-key: unknown",
        "basic information about the authorization: granted",
        "https://example.com/a:b@c",
        "https://example.com:8080/path?user=me@example.com",
        "mailto:me@example.com and ssh://git@example.com/repo",
        "sk-short and AKIA and eyJ and SG.x.y and xoxb-1 and ghp_x",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "ask_live_people and mask_test_data_sets",
        "[redacted]",
        "[1, 2",
        '"unfinished',
        "",
    ],
)
def test_innocent_text_is_untouched(text: str) -> None:
    redactor = Redactor(["another secret"])
    value = {"a": [text], "b": json.dumps({"c": text}), text: None}
    assert redactor.text(text) is text
    assert redactor.json(value) is value


def test_only_the_secret_part_of_a_text_is_hidden() -> None:
    text = "curl -H 'x-api-key: abcd1234efgh' https://me:hunter22@example.com/v1?q=1 # Bearer abcd1234, thanks"
    assert Redactor().text(text) == (
        f"curl -H '{PLACEHOLDER}' https://{PLACEHOLDER}@example.com/v1?q=1 # {PLACEHOLDER}, thanks"
    )


@pytest.mark.parametrize(
    "name, value",
    [
        ("Authorization", "Basic dXNlcjpwYXNz"),
        ("authorization", f"Token {RUN}"),
        ("proxy-authorization", "basic abcd"),
        ("X-Api-Key", "abcd1234efgh"),
        ("x-goog-api-key", RUN),
        ("Cookie", "theme=dark; session=abcd"),
        ("upstream-cookie", "sid=abcd"),
    ],
)
def test_a_header_among_a_tools_arguments_loses_its_credentials(name: str, value: str) -> None:
    redactor = Redactor()
    body = {"headers": {name: value, "accept": "*/*"}, "raw": json.dumps({name: value})}
    clean = {"headers": {name: PLACEHOLDER, "accept": "*/*"}, "raw": json_codec.dumps({name: PLACEHOLDER}).decode()}
    assert redactor.json(body) == clean
    assert redactor.json(clean) is clean
    assert redactor.may_touch(stable_text(body))


@pytest.mark.parametrize("value", ["granted by the board", ["Basic dXNlcjpwYXNz"], {"type": "string"}, 7, None])
def test_a_field_that_only_shares_its_name_with_a_header_is_kept(value: Any) -> None:
    body = {"authorization": value, "cookie": "chocolate chip", 7: "seven"}
    assert Redactor().json(body) is body


def test_headers_that_carry_credentials_lose_their_value_whatever_it_looks_like() -> None:
    headers = {"Authorization": "x", "X-API-Key": "y", "Set-Cookie": "z", "Accept": "*/*", "X-Echo": f"sk-{RUN}"}
    assert Redactor().headers(headers) == {
        "Authorization": PLACEHOLDER,
        "X-API-Key": PLACEHOLDER,
        "Set-Cookie": PLACEHOLDER,
        "Accept": "*/*",
        "X-Echo": PLACEHOLDER,
    }


def test_two_secret_names_do_not_become_one_field() -> None:
    redactor = Redactor(["first-secret", "second-secret"])
    value = {"first-secret": 1, "second-secret": 2, PLACEHOLDER: 3, "[redacted]2": 4, f"sk-{RUN}": 5, "plain": 6}
    clean = redactor.json(value)
    assert list(clean.values()) == [1, 2, 3, 4, 5, 6]
    assert redactor.json(clean) is clean


@pytest.mark.parametrize("pattern", [".", r"\d", "^", ".*"])
def test_not_even_where_a_pattern_would_hide_what_tells_them_apart(pattern: str) -> None:
    redactor = Redactor(patterns=["secret-.", pattern])
    clean = redactor.json({"secret-a": 1, "secret-b": 2, "secret-c": 3})
    assert len(clean) == 3
    assert redactor.json(clean) == clean


def test_what_stands_under_a_name_that_is_given_twice_does_not_survive() -> None:
    clean = Redactor().json(f'{{"key": "sk-{RUN}", "key": "later"}}')
    assert not survives(RUN, clean)
    assert is_json(clean)


def test_what_becomes_json_without_its_secret_is_looked_into() -> None:
    redactor = Redactor(['has "quotes" inside'])
    clean = redactor.json(f'{{"a": "has "quotes" inside", "b": "{escaped(f"sk-{RUN}")}"}}')
    assert json.loads(clean) == {"a": PLACEHOLDER, "b": PLACEHOLDER}


def test_nested_json_is_still_json_and_holds_what_it_held() -> None:
    nested = {"key": f"sk-{RUN}", "n": [1, 2.5, None, True], "é": "日本\ud800", "deep": json.dumps({"k": f"sk-{RUN}"})}
    clean = json.loads(Redactor().json(json.dumps(nested)))
    assert clean == {**nested, "key": PLACEHOLDER, "deep": json_codec.dumps({"k": PLACEHOLDER}).decode()}


@pytest.mark.parametrize("depth", [100, 900, 20_000])
def test_depth_protects_no_secret(depth: int) -> None:
    value: Any = f"sk-{RUN}"
    for _ in range(depth):
        value = [value]
    clean = Redactor().json({"a": value, "b": "[" * depth + f'"sk-{RUN}"' + "]" * depth})
    assert RUN not in clean["b"]
    for _ in range(depth):
        [clean["a"]] = clean["a"]
    assert clean["a"] == PLACEHOLDER


def test_a_value_that_contains_itself_is_an_error_of_ours() -> None:
    value: list[Any] = [f"sk-{RUN}"]
    value.append(value)
    with pytest.raises(InputError, match="contains itself"):
        Redactor().json(value)


@pytest.mark.parametrize(
    "value", [(f"sk-{RUN}",), f"sk-{RUN}".encode(), {1: {f"sk-{RUN}"}}], ids=["tuple", "bytes", "set"]
)
def test_not_even_what_no_json_has_a_form_for_protects_a_secret(value: Any) -> None:
    assert RUN not in repr(Redactor().json([value]))


def test_an_integer_of_thousands_of_digits_is_kept() -> None:
    value = [10**5000, f"sk-{RUN}"]
    assert Redactor(["12345678"]).json(value) == [10**5000, PLACEHOLDER]


def test_a_users_pattern_hides_what_it_matches() -> None:
    redactor = Redactor(patterns=[r"ACME-\d+", "(?i)project \\w+"])
    value = {"a": "ACME-123 is Project Zeus", "b": "nothing"}
    assert redactor.json(value) == {"a": f"{PLACEHOLDER} is {PLACEHOLDER}", "b": "nothing"}
    assert redactor.may_touch("anything")


def test_a_pattern_that_is_none_is_an_error_of_ours() -> None:
    with pytest.raises(UsageError, match=re.escape("'(' is not a regular expression")):
        Redactor(patterns=["("])


def test_a_pattern_that_matches_nothing_at_all_hides_nothing() -> None:
    assert Redactor(patterns=["x*", "^", r"\b"]).text("plain") == "plain"


awkward = st.text(st.sampled_from('ab1"\\\n/[]{}:, é日\ud800'), max_size=12) | st.text(max_size=8)
secrets = st.text(st.characters(exclude_categories=()), min_size=8, max_size=24) | awkward.map("s3cr3t-\\".__add__)
json_texts = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | awkward,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(awkward, inner, max_size=3)
        | inner.map(json.dumps)
        | inner.map(lambda value: json.dumps(value, ensure_ascii=False, indent=1))
    ),
    max_leaves=8,
)


@st.composite
def planted(draw: st.DrawFn, secret: str) -> Any:
    """The secret, deep inside something."""
    value: Any = draw(awkward) + secret + draw(awkward)
    for _ in range(draw(st.integers(0, 2))):
        value = f"log {json.dumps(value, ensure_ascii=draw(st.booleans()))} end"
    for _ in range(draw(st.integers(0, 6))):
        wrap = draw(st.sampled_from(["list", "dict", "name", "json"]))
        if wrap == "list":
            value = [*draw(st.lists(json_texts, max_size=2)), value]
        elif wrap == "dict":
            value = {draw(awkward): draw(json_texts), "value": value}
        elif wrap == "name" and isinstance(value, str):
            value = {value: draw(json_texts)}
        else:
            value = json.dumps(value, ensure_ascii=draw(st.booleans()))
    return value


@given(st.data())
def test_a_planted_secret_never_survives_whatever_it_is_nested_in(data: st.DataObject) -> None:
    secret = data.draw(secrets)
    assume(secret.strip())
    value = data.draw(planted(secret))
    redactor = Redactor([secret])
    clean = redactor.json(value)
    assert not survives(secret, clean)
    assert redactor.may_touch(stable_text(value))
    assert redactor.json(clean) == clean


ADVERSARIES = st.sampled_from(
    ["redacted", "[redacted]", "acted] x", "][redacted", "x[redact", "ted][red", '"[redacted', "\\[redac"]
)
PATTERNS = st.sampled_from([".*", "x*", r"\w\[", "a", "c", "red|acted", "^.", ".$", r"\]", '"', r"\\", r"(?<=\[).", ""])
MIXED = st.lists(
    ADVERSARIES | awkward | st.sampled_from([f"sk-{RUN}", "Bearer ", "eyJ", "authorization: ", "x"]), max_size=5
).map("".join)


@given(st.lists(ADVERSARIES, max_size=3), st.lists(PATTERNS, max_size=3), MIXED)
@example([], ["a", "c"], "a")
def test_redacting_twice_is_redacting_once_whatever_is_secret(
    secret: list[str], patterns: list[str], text: str
) -> None:
    redactor = Redactor(secret, patterns)
    once = redactor.text(text)
    assert redactor.text(once) == once
    value = {text: [text, json.dumps({text: text}), {"authorization": text}], "other": json.dumps(json.dumps(text))}
    clean = redactor.json(value)
    assert redactor.json(clean) == clean


@given(st.lists(secrets, max_size=2), st.lists(PATTERNS, max_size=1), json_texts, MIXED)
def test_json_stays_json_and_what_was_not_hidden_is_the_same_object(
    secret: list[str], patterns: list[str], value: Any, text: str
) -> None:
    value = [value, text, json.dumps([text, value])]
    clean = Redactor(secret, patterns).json(value)
    assert clean is value or clean != value
    assert is_json(clean[2])


@given(st.lists(secrets, max_size=2), json_texts, MIXED, st.booleans())
def test_the_quick_look_never_misses_what_the_long_walk_would_hide(
    secret: list[str], value: Any, text: str, as_escapes: bool
) -> None:
    redactor = Redactor(secret)
    planted_text = "".join([text, *secret])
    value = [value, f'{{"a": "{escaped(planted_text)}"}}' if as_escapes else {planted_text: text}]
    assert redactor.may_touch(stable_text(value)) or redactor._walked(value) is value


def test_the_quick_look_spares_the_long_walk_where_there_is_no_secret() -> None:
    assert not Redactor(["another secret"]).may_touch(
        stable_text({"a": ["Hello, wörld", 1.5, None], "b": '{"c": "d"}'})
    )


MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    "unit",
    [
        *[
            "sk-",
            "-sk-x ",
            "eyJ-",
            "eyJaaaaaaaa.",
            "SG.aaaaaaaaaaaaaaaa",
            "AKIA",
            "AIza-",
            "ghp_a",
            "xoxb-",
            "sk_live_",
        ],
        *[
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN A ",
            "://a:",
            "://:@",
            ":\\/\\/a:b@",
            "authorization",
            "cookie:a=",
        ],
        *[
            "authorization: basic ",
            "x-api-key: abcdefg ",
            "Bearer ",
            "Bearer aaaa/aaaa ",
            PLACEHOLDER,
            "[redacted",
            "\\n",
        ],
    ],
)
def test_a_megabyte_of_hostile_text_is_no_trouble(unit: str) -> None:
    text = Redactor(["s3cr3t-value"]).text(unit * (MEGABYTE // len(unit)) + "s3cr3t-value")
    assert "s3cr3t-value" not in text


@pytest.mark.parametrize("start", ["Bearer ", "x-api-key: "])
@pytest.mark.parametrize("unit", ["a", "aaaa/", "Aa", "a-", "ABC.", "="])
@pytest.mark.parametrize("end", ["1", "!"])
def test_a_megabyte_that_may_be_words_or_a_token_is_no_trouble(start: str, unit: str, end: str) -> None:
    text = start + unit * (MEGABYTE // len(unit)) + end
    assert Redactor().text(text) in (text, PLACEHOLDER, PLACEHOLDER + end)


@pytest.mark.load
def test_a_megabyte_of_secret_names_is_no_trouble() -> None:
    names = {f"sk-secret-{number:08}": number for number in range(30_000)}
    assert list(Redactor().json(names).values()) == list(range(30_000))


@given(st.text("abc…", max_size=12), st.integers(4, 27), st.text("abc…", max_size=12))
def test_no_part_of_a_secret_is_left_where_a_message_was_cut(before: str, length: int, after: str) -> None:
    secret = "Zq7Zq8Zq9Wm1Wm2Wm3Kj4Kj5Kj6"
    redactor = Redactor([secret])
    for text in (f"{before}{secret[:length]}…{after}", f"{before}…{secret[-length:]}{after}"):
        clean = redactor.text(text)
        assert secret[:4] not in clean
        assert secret[-4:] not in clean
        assert redactor.text(clean) == clean
        assert redactor.json({"error": text}) == {"error": clean}
        assert redactor.may_touch(json.dumps(text))


def test_a_private_value_is_not_left_in_part_either() -> None:
    redactor = Redactor().with_private({"customer": ["Annabel Smith"]})
    assert redactor.text("Refund Annabel S…") == "Refund [redacted: customer]…"
