from __future__ import annotations

import json
import time
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill.domain.redaction import MAX_ITEMS, MAX_TEXT, REDACTED, redact, safe_text, secret_key


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "db_password",
        "dbPassword",
        "PASSWD",
        "passphrase",
        "secret",
        "client_secret",
        "secretRef",
        "api_key",
        "apiKey",
        "API-KEY",
        "x-api-key",
        "access_key",
        "privateKey",
        "credentials",
        "Authorization",
        "auth",
        "X-Auth",
        "cookie",
        "Set-Cookie",
        "token",
        "accessToken",
        "refresh_token",
        "csrfToken",
        "bearer",
        "pwd",
        "pin",
        "otp",
        "jwt",
        "dsn",
        "slack-webhook",
        "webhook_url",
        "pagerduty-key",
        "iban",
    ],
)
def test_keys_that_name_secrets(key: str) -> None:
    assert secret_key(key)
    assert redact({key: "s3cr3t"}) == {key: REDACTED}
    assert redact({"a": [{key: {"deep": "s3cr3t"}}]}) == {"a": [{key: REDACTED}]}


@pytest.mark.parametrize(
    "key",
    [
        "item_id",
        "businessId",
        "key",
        "idempotency_key",
        "definition_key",
        "token_count",
        "max_tokens",
        "author",
        "authority",
        "pinned",
        "spinning",
        "url",
        "status",
        "session",
        "keyboard",
        "tokenizer",
        "passenger",
        "compass",
    ],
)
def test_keys_that_do_not(key: str) -> None:
    assert not secret_key(key)
    assert redact({key: "plain"}) == {key: "plain"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "cannot reach postgresql://app:hunter2@db:5432/x",
            "cannot reach postgresql://app:[redacted]@db:5432/x",
        ),
        ("postgres://app:p@ss:w@db/x", "postgres://app:[redacted]@db/x"),
        ("redis://:hunter2@cache:6379/0", "redis://:[redacted]@cache:6379/0"),
        ("host=db password=hunter2 user=app", "host=db password=[redacted] user=app"),
        ("password='two words' rest", "password=[redacted] rest"),
        ('{"token": "abc def", "n": 1}', '{"token": [redacted], "n": 1}'),
        ("GET /x?access_token=abc&page=2", "GET /x?access_token=[redacted]&page=2"),
        ("Authorization: Bearer abc.def-123 sent", "Authorization: [redacted] sent"),
        ("Basic realm, authorization=Basic dXNlcjpwYXNz", "Basic realm, authorization=[redacted]"),
        ("sent bearer abcdef123456ghi twice", "sent bearer [redacted] twice"),
        ("key sk-" + "a1" * 12 + " rejected", "key [redacted] rejected"),
        ("xoxb-" + "1" * 20, "[redacted]"),
        ("AKIA" + "A1" * 8, "[redacted]"),
        ("sl.u." + "A1_-" * 12, "[redacted]"),
        ("key pm_" + "aZ-_9" * 8 + "abc.", "key [redacted]."),
        ("pm_is_not_a_key", "pm_is_not_a_key"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- ok", "[redacted] ok"),
        ("-----BEGIN PRIVATE KEY-----\nMIIcut", "[redacted]"),
    ],
)
def test_secrets_inside_of_texts(text: str, shown: str) -> None:
    assert safe_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "503 Service Unavailable for https://example.org:8080/path?page=2",
        "used 500 tokens: 5 left",
        "basic authentication is required",
        "see https://user@example.org/a:b@c",
        "two\nlines\tand a tab",
        "größer, 漢字, 😀",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert safe_text(text) == text


@pytest.mark.parametrize(
    "control", ["\x00", "\x1b[2J", "\x9b31m", "\r", "\x7f", "\ud800", "\u202e", "\u2066"]
)
def test_terminals_are_safe(control: str) -> None:
    shown = safe_text(f"a{control}b")
    assert control[0] not in shown
    assert shown.startswith("a\N{REPLACEMENT CHARACTER}")
    shown.encode()


def test_texts_are_bounded_and_a_secret_on_the_edge_is_not_half_shown() -> None:
    assert len(safe_text("x" * 10_000_000)) == MAX_TEXT + 1
    text = "x" * (MAX_TEXT - 12) + " password=" + "s" * 300
    assert "sss" not in safe_text(text)


@pytest.mark.parametrize("evil", ["a:" * 5000, "a" * 10000, "a://" * 3000, "://:" * 3000, "password=" * 2000,
                                  "bearer " * 2000, "-----BEGIN PRIVATE KEY-----" * 500, "sk-" * 4000,
                                  'token="' * 2000, "eyJ." * 3000])  # fmt: skip
def test_no_text_takes_long(evil: str) -> None:
    started = time.process_time()
    for _ in range(10):
        safe_text(evil, limit=8000)
    assert time.process_time() - started < 2.0


def test_values_are_bounded_in_number_and_depth() -> None:
    assert len(redact(list(range(1000)))) == MAX_ITEMS + 1
    assert len(redact({str(n): n for n in range(1000)})) == MAX_ITEMS + 1
    deep: Any = "end"
    for _ in range(500):
        deep = [deep]
    assert "end" not in json.dumps(redact(deep))


def test_it_is_pure_and_never_raises() -> None:
    class Rude:
        def __str__(self) -> str:
            raise RuntimeError

    given = {"password": "x", "a": [1]}
    assert redact(given) == {"password": REDACTED, "a": [1]}
    assert given == {"password": "x", "a": [1]}
    assert redact(Rude()) == "<Rude>"
    assert redact(10**30) == "1" + "0" * 30
    assert redact(10**5000) == "<int>"
    assert redact({None: 1, 2: 3}) == {"None": 1, "2": 3}
    assert redact({"password": None}) == {"password": None}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_whatever_comes_out_is_json(value: Any) -> None:
    orjson.dumps(redact(value))
