import json
import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from postmill.domain.errors import PayloadRefused
from postmill.domain.payload import MAX_BYTES, check_line, check_text, decode, encode
from postmill.domain.text import unstorable

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters() | st.sampled_from("\0\ud800\\u0"), max_size=12)
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab\0\\u0\ud800", max_size=7), inner, max_size=3)
    ),
    max_leaves=12,
)
payloads = st.dictionaries(st.text("abc", max_size=3), values, max_size=3)


def has_fault(value: Any) -> bool:
    """An oracle of its own: plain recursion over plain JSON data."""
    if isinstance(value, str):
        return unstorable(value) is not None
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(has_fault(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(map(has_fault, value))


def nested(depth: int) -> dict[str, Any]:
    """A payload of so many levels."""
    inner: Any = {}
    for level in range(depth - 2):
        inner = {"a": inner} if level % 2 else [inner]
    return {"a": inner} if depth > 1 else inner


@given(payloads)
@example({"a": r"\u0000"})
@example({"a": "NaN Infinity null"})
@example({"a": "\\\\u0000"})
def test_what_is_accepted_comes_back_equal_and_the_rest_is_refused(payload: dict[str, Any]) -> None:
    if has_fault(payload):
        with pytest.raises(PayloadRefused, match=r"^args"):
            encode(payload)
    else:
        raw = encode(payload)
        assert decode(raw) == payload
        assert check_text(raw) == raw


@pytest.mark.parametrize(
    ("payload", "path", "why"),
    [
        ({"a": "x\0"}, "args.a", "NUL"),
        ({"a": ["x\0"]}, "args.a[0]", "NUL"),
        ({"a": [{"b": [1, "\ud800"]}]}, "args.a[0].b[1]", "lone surrogate"),
        ({"a": {"k\0": 1}}, "args.a", "a key holds a NUL"),
        ({"a b": float("nan")}, "args['a b']", "no JSON number"),
        ({"a": {"b": float("inf")}}, "args.a.b", "no JSON number"),
        ({"a": None, "b": [float("-inf")]}, "args.b[0]", "no JSON number"),
        ({"a": [1, datetime(2026, 1, 1)]}, "args.a[1]", "without a time zone"),
        ({"a": 10**4300}, "args.a", "more than 4300 digits"),
        ({"a": -(10**4300)}, "args.a", "more than 4300 digits"),
        ({"a": object()}, "args.a", "is an object, which JSON cannot express"),
        ({"a": [lambda: 1]}, "args.a[0]", "is a function, which JSON cannot express"),
        (nested(201), "args.a", "nested deeper than 200"),
        (nested(5000), "args.a", "nested deeper than 200"),
        ({"a": "x" * MAX_BYTES}, "args", "bytes of JSON; at most 1048576"),
        (["a"], "args", "is an object, not list"),
    ],
)
def test_a_refusal_names_the_path_and_the_reason(payload: Any, path: str, why: str) -> None:
    with pytest.raises(PayloadRefused) as caught:
        encode(payload)
    assert caught.value.path.startswith(path)
    assert why in caught.value.why
    assert len(str(caught.value)) < 500


def test_the_limits_themselves_are_allowed() -> None:
    for payload in (nested(200), {"a": 10**4300 - 1}, {"a": "x" * (MAX_BYTES - 8)}, {"a": 2**63}):
        assert decode(encode(payload)) == payload


def test_a_set_of_its_own_size() -> None:
    with pytest.raises(PayloadRefused, match="at most 10 are allowed"):
        encode({"a": "x" * 20}, max_bytes=10)


class Color(Enum):
    RED = "red"
    BAD = "b\0"


@dataclass
class Point:
    x: float


class Item(BaseModel):
    at: datetime | None = None
    price: float = 0


def test_values_that_pydantic_knows() -> None:
    raw = encode(
        {
            "id": UUID(int=1),
            "d": Decimal("1.50"),
            "c": Color.RED,
            "p": Point(1),
            "at": datetime(2026, 1, 1, tzinfo=UTC),
        }
    )
    assert decode(raw) == {
        "id": str(UUID(int=1)), "d": "1.50", "c": "red", "p": {"x": 1.0}, "at": "2026-01-01T00:00:00Z"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Color.BAD, "args.v"),
        (Point(float("nan")), "args.v.x"),
        (Item(at=datetime(2026, 1, 1)), "args.v.at"),
        ([Item(price=float("inf"))], "args.v[0].price"),
        ({"k": (1, {"\0"})}, "args.v.k[1][]"),
    ],
)
def test_faults_inside_other_values_are_found(value: object, path: str) -> None:
    with pytest.raises(PayloadRefused) as caught:
        encode({"v": value})
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[1]", "is an object, not list"),
        ("null", "is an object, not NoneType"),
        ('{"a": NaN}', "NaN is no JSON number"),
        ('{"a": -Infinity}', "-Infinity is no JSON number"),
        ('{"a": 1e400}', "too large"),
        ('{"a": 1e131072}', "too large"),
        ('{"a": ' + "9" * 4301 + "}", "4301 digits"),
        ('{"a": ["\\u0000"]}', "args.a[0]: holds a NUL"),
        ('{"a": "\\ud800"}', "args.a: holds a lone surrogate"),
        ('{"a": "\ud800"}', "is not JSON"),
        ('{"a": ' + "[" * 5000 + "]" * 5000 + "}", "nested deeper than 200"),
        ('{"a": ' + "[" * 500_000 + "}", "nested deeper than 200"),
        (b'{"a": "\xff"}', "is not JSON"),
        ('{"a": "' + "x" * MAX_BYTES + '"}', "bytes of JSON"),
    ],
)
def test_text_from_outside(text: str | bytes, why: str) -> None:
    with pytest.raises(PayloadRefused) as caught:
        check_text(text)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"a": "\\\\u0000 \\ud83d\\ude00"}',
        '{"a": "[[[[{{{{", "b": ' + str([0] * 300) + "}",
        '{"a": "' + "[" * 1000 + '\\"' + "{" * 1000 + '"}',
        '{"a": -' + "9" * 4300 + "}",
    ],
)
def test_good_text_from_outside_is_kept_byte_for_byte(text: str) -> None:
    assert check_text(text) == text.encode()
    assert json.loads(check_text(text)) == json.loads(text)


def test_lines() -> None:
    assert check_line("key", "k" * 512) == "k" * 512
    for text, why in (("", "empty"), ("k\0", "NUL"), ("\ud800", "surrogate"), ("é" * 300, "600 bytes")):
        with pytest.raises(PayloadRefused, match=f"key: .*{why}"):
            check_line("key", text)


def test_a_small_payload_costs_a_few_microseconds() -> None:
    payload = {"user_id": 17, "text": "hello", "tags": ["a", "b"]}
    best = min(_seconds_of(lambda: encode(payload)) for _ in range(20))
    assert best < 20e-6  # measured 1.2 µs; the bound allows for a slow and busy machine


def _seconds_of(call: Any, times: int = 500) -> float:
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times
