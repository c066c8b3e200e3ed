"""Cases 69 and 71: what is accepted comes back equal; what some layer cannot carry is refused, by its path."""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection

from postmill.client import Client
from postmill.domain.errors import PayloadRefused
from postmill.domain.job import NewJob
from tests.client.job_types import echo
from tests.support.databases import Database


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module."""
    return emptied


@pytest.fixture
def pg(lasting: Connection[Any]) -> Connection[Any]:
    """Its connection, too."""
    return lasting


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def same(got: Any, sent: Any) -> bool:
    """Equal under jsonb's normalisation: 1e100 comes back as the integer of as many digits, -0.0 as 0."""
    if isinstance(sent, dict):
        return (
            isinstance(got, dict) and got.keys() == sent.keys() and all(same(got[k], sent[k]) for k in sent)
        )
    if isinstance(sent, list):
        return isinstance(got, list) and len(got) == len(sent) and all(map(same, got, sent))
    if isinstance(sent, float):
        return isinstance(got, int | float) and not isinstance(got, bool) and float(got) == sent
    return type(got) is type(sent) and got == sent


ACCEPTED = {
    "literal escape": "\\u0000 and \\\\u0000 and \\ alone \\",
    "controls": "\x01\x02\x1f\x7f\t\n\r\"'\\/",
    "unicode": "Zoë 中文 🎉 \u2028\u2029 \ufeff \ufffe",
    "copy marks": "\\. \\N \t\\N\n\\.",
    "big integer": 10**4200,
    "negative big": -(2**64),
    "beyond double": 2**53 + 1,
    "small": 5e-324,
    "large": 1.7976931348623157e308,
    "exponent": 1e100,
    "empty": {},
    "empties": [[], {}, "", None, False],
    "keys": {"": 1, " ": 2, "a.b": 3, "$ref": 4, "__proto__": 5},
    "depth": nested(190),
    "long": "x" * 900_000,
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_accepted_comes_back(client: Client, name: str) -> None:
    value = ACCEPTED[name]
    by_one = client.enqueue(echo.new(value))
    by_copy = client.enqueue_many([echo.new(value)] * (2 if name == "long" else 200))[-1]
    by_arrays = client.enqueue_many([echo.using(actor_id="a").new(value)] * 2)[-1]
    for answer in (by_one, by_copy, by_arrays):
        assert same(client.get(answer.id).payload, {"value": value})


REFUSED = {
    "NUL": ({"a": ["x\0y"]}, r"args\.value\.a\[0\]"),
    "NUL in a key": ({"a\0": 1}, r"args\.value"),
    "surrogate": (["\ud800"], r"args\.value\[0\]"),
    "surrogate in a key": ({"\udfff": 1}, r"args\.value"),
    "NaN": ([1, math.nan], r"args\.value\[1\]"),
    "infinity": ({"x": -math.inf}, r"args\.value\.x"),
    "depth": (nested(600), r"args"),
    "digits": (10**4400, r"args\.value"),
    "naive": (datetime(2030, 1, 1), r"args\.value"),
    "size": ("x" * 1_048_577, r"args"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_carried_is_refused_by_its_path(client: Client, name: str) -> None:
    value, path = REFUSED[name]
    with pytest.raises(PayloadRefused, match=f"^{path}"):
        echo.new(value)


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"1", b"null", b"{", b'{"a":1}x', b'{"a":NaN}', b'{"a":1e131072}', b'{"a":"\\ud800"}',
     b'{"a":"\\u0000"}', b'{"a":"\xff"}', b"{\"a\":" + b"[" * 5000 + b"]" * 5000 + b"}"],
)  # fmt: skip
def test_text_that_is_no_storable_object_never_reaches_sql(client: Client, text: bytes) -> None:
    with pytest.raises(PayloadRefused, match="args"):
        client.enqueue(NewJob("echo", text))
    with pytest.raises(PayloadRefused, match="args"):
        client.enqueue_many([NewJob("echo"), NewJob("echo", text)])


@pytest.mark.parametrize(
    "options",
    [{"key": "a\0b"}, {"key": ""}, {"key": "\ud800"}, {"actor_id": "a\0"}, {"correlation_id": "\udc00"},
     {"scheduled_for": datetime(2030, 1, 1)}, {"max_attempts": 0}, {"max_attempts": 2**31}, {"priority": 2**31},
     {"timeout": math.nan}, {"timeout": 0}, {"actor_type": "robot"}, {"source": "?"}, {"source_ref": "\0"}],
    ids=repr,
)  # fmt: skip
def test_options_written_by_hand_are_checked_too(client: Client, options: dict[str, Any]) -> None:
    with pytest.raises(PayloadRefused, match=f"^{next(iter(options))}"):
        client.enqueue(NewJob("echo", **options))
    with pytest.raises(PayloadRefused, match=r"^job_type"):
        client.enqueue(NewJob("ec\0ho"))


def test_what_is_no_job_is_refused(client: Client) -> None:
    with pytest.raises(TypeError, match=r"takes a NewJob, as made by a job type's \.new"):
        client.enqueue(echo)  # type: ignore[arg-type]


def test_documented_normalisation_by_jsonb(client: Client) -> None:
    """Key order goes, the last of doubled keys wins, -0.0 is 0 and 1e2 is 100: JSON's own equality."""
    answer = client.enqueue(NewJob("echo", b'{"value": {"b": 1, "a": -0.0, "c": 1e2, "b": 2}}'))
    assert client.get(answer.id).payload == {"value": {"a": 0, "b": 2, "c": 100}}


def test_a_row_of_great_depth_put_in_by_sql_is_read_as_text(client: Client, pg: Connection[Any]) -> None:
    deep = '{"value":' + "[" * 3000 + "]" * 3000 + "}"
    row = pg.execute("select postmill.enqueue('echo', %s::jsonb)", [deep]).fetchone()
    assert row is not None
    read = client.get(row[0]).payload
    assert read == json.loads(deep) if not isinstance(read, str) else read.count("[") == 3000


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=20,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values)
def test_any_value_comes_back(client: Client, value: Any) -> None:
    ids = [client.enqueue(echo.new(value)).id, client.enqueue_many([echo.new(value)] * 200)[0].id]
    for id in ids:
        assert same(client.get(id).payload, {"value": value})
