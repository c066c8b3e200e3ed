import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill import job
from postmill.domain.errors import DefinitionError, PayloadRefused
from postmill.domain.idempotency import TTL_BY_CATEGORY, Idempotency, Mode, default_key, stable_hash

TENANT = UUID(int=7)
PROJECT = UUID(int=8)

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
payloads = st.dictionaries(st.text(), values, max_size=5)


def _embed(text: str) -> None: ...


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(list(value))}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@given(payloads)
def test_the_order_of_keys_and_white_space_do_not_matter(payload: dict[str, Any]) -> None:
    written = json.dumps(reordered(payload), indent=3).encode()
    assert stable_hash(payload) == stable_hash(written)


@given(payloads, payloads)
def test_different_payloads_differ(one: dict[str, Any], other: dict[str, Any]) -> None:
    # Python's == finds True == 1; JSON does not, so the texts are compared.
    same = json.dumps(_numbers(one), sort_keys=True) == json.dumps(_numbers(other), sort_keys=True)
    assert (stable_hash(one) == stable_hash(other)) is same


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)), st.integers(-14 * 60, 14 * 60))
def test_one_instant_hashes_equally_in_every_zone(naive: datetime, offset: int) -> None:
    instant = naive.replace(tzinfo=UTC)
    local = instant.astimezone(timezone(timedelta(minutes=offset)))
    zulu = instant.isoformat().replace("+00:00", "Z")
    assert stable_hash({"at": local.isoformat()}) == stable_hash({"at": zulu})


def test_what_only_looks_like_an_instant_stays_as_it_is() -> None:
    for text in ("2026-13-01T00:00:00Z", "2026-01-01T00:00:00", "0001-01-01T00:00:00+14:00"):
        assert stable_hash([text]) != stable_hash([text.replace("00:00:00", "00:00:01")])
        assert stable_hash([text]) == stable_hash(json.dumps([text]).encode())


def test_whole_floats_are_integers_and_booleans_are_not() -> None:
    assert stable_hash({"n": 1.0}) == stable_hash({"n": 1}) == stable_hash(b'{"n": 1e0}')
    assert stable_hash({"n": -0.0}) == stable_hash({"n": 0})
    assert stable_hash({"n": True}) != stable_hash({"n": 1})
    assert stable_hash({"n": 1.5}) != stable_hash({"n": 1})


def test_a_hash_never_changes_from_one_release_to_the_next() -> None:
    # printf '{"a":[1,true,null],"b":"é"}' | sha256sum
    assert (
        stable_hash({"b": "é", "a": [1.0, True, None]})
        == "6eab153701ef60c995351765c772011bca6739878254f313acc3f11e1fef476b"
    )


def test_the_default_key_has_the_seeds_form() -> None:
    digest = stable_hash({"a": 1})
    assert default_key("t", TENANT, None, b'{"a":1}') == f"t:{TENANT}::{digest}"
    assert default_key("t", TENANT, PROJECT, {"a": 1}) == f"t:{TENANT}:{PROJECT}:{digest}"


def test_modes_and_their_windows() -> None:
    assert Idempotency().mode is Mode.ACTIVE
    assert Idempotency(Mode.WINDOW).window == timedelta(hours=24)
    assert Idempotency("window", 60).window == timedelta(minutes=1)  # type: ignore[arg-type]  # text and seconds will do
    assert Idempotency.for_category("planning").window == timedelta(days=30)
    assert {name: ttl.days for name, ttl in TTL_BY_CATEGORY.items()} == {
        "notifications": 7, "audit": 30, "planning": 30, "exports": 30, "imports": 30, "maintenance": 7
    }  # fmt: skip


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (
            lambda: Idempotency("sometimes"),  # type: ignore[arg-type]
            "none of: active, queued, window, ttl",
        ),
        (lambda: Idempotency(Mode.TTL), "needs window"),
        (lambda: Idempotency(Mode.ACTIVE, timedelta(1)), "takes no window"),
        (lambda: Idempotency(Mode.WINDOW, timedelta(0)), "more than 0"),
        (
            lambda: Idempotency(Mode.WINDOW, float("nan")),  # type: ignore[arg-type]
            "NaN",
        ),
        (
            lambda: Idempotency(content="text"),  # type: ignore[arg-type]
            "a list of arguments, not 'text'",
        ),
        (
            lambda: job("t", idempotency=Idempotency(content=("txet",)))(_embed),
            "no argument; did you mean 'text'",
        ),
        (
            lambda: job("t", idempotency=Idempotency(content=("text",)), encrypted=True)(_embed),
            "cannot read the idempotency content",
        ),
        (lambda: Idempotency.for_category("plannig"), "unknown job category 'plannig'"),
    ],
)
def test_nonsense_is_refused_where_it_is_written(make: Any, why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        make()


def test_keys_from_templates_and_functions() -> None:
    arguments = {"businessId": "b1", "n": 2}

    def key_of(businessId: str, n: int) -> str:
        return f"{businessId}/{n}"

    def made(rule: Idempotency) -> str:
        return rule.key_for("t", TENANT, None, b"{}", arguments)

    assert made(Idempotency(key="embedding:{businessId}")) == "embedding:b1"
    assert made(Idempotency(key=key_of)) == "b1/2"
    assert made(Idempotency()) == default_key("t", TENANT, None, b"{}")


@pytest.mark.parametrize("key", ["{missing}", "{n.x.y}", lambda **_: 1 / 0, lambda n: n])
def test_a_template_that_does_not_fit_is_refused_with_the_reason(key: Any) -> None:
    with pytest.raises(
        PayloadRefused, match=r"key: cannot be made: (KeyError|AttributeError|ZeroDivisionError|TypeError)"
    ):
        Idempotency(key=key).key_for("t", TENANT, None, b"{}", {"n": 1, "m": 2})
