"""The query language: what is read, where what is wrong stands, and that a query is the same when it is written anew."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from postmill.domain.query import Query, parse
from postmill.domain.query_fields import FIELDS
from postmill.domain.query_filter import job_filter
from postmill.domain.query_words import LONGEST, MOST, QueryError, written

ID = "0198f3c2-5b1e-7000-8000-000000000001"


def pieces() -> st.SearchStrategy[str]:
    """Texts that are nearly queries: their signs come often."""
    signs = st.sampled_from(
        [" ", ":", ",", "-", '"', "\\", ">", "args.", *(f"{name}:" for name in FIELDS), ID, "2h"]
    )
    return st.lists(st.one_of(signs, st.text(max_size=6)), max_size=30).map("".join)


def read(text: str) -> tuple[Query | None, QueryError | None]:
    try:
        return parse(text), None
    except QueryError as error:
        return None, error


@given(pieces())
@example(f"-{ID}")
@example("-")
@example('type:"\\')
@example("args.:1")
@example("since:2026-13-45")
@example("attempt:" + "9" * 400)
@example("age:>" + "9" * 400)
def test_whatever_is_typed_is_read_or_refused_with_its_position(text: str) -> None:
    query, error = read(text)
    if error is not None:
        assert 0 <= error.at < max(1, len(text))
        assert 1 <= error.length <= max(1, len(text) - error.at)
        assert error.why
        assert str(error).startswith(f"at character {error.at + 1}: ")
        return
    assert query is not None
    assert parse(str(query)) == query
    for term in query.terms:
        assert all(text[v.at : v.at + v.length].strip('"') for v in term.values)


@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.sampled_from(["type", "queue", "key", "actor", "args.a.b"]),
            st.lists(
                st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1), min_size=1, max_size=3
            ),
        ),
        max_size=4,
    )
)
def test_what_is_written_is_read_as_it_was_meant(terms: list[tuple[bool, str, list[str]]]) -> None:
    text = " ".join(
        f"{'-' if negative else ''}{name}:{','.join(map(written, values))}"
        for negative, name, values in terms
    )
    if len(text) > LONGEST:
        return
    query, error = read(text)
    if error is not None:
        assert "cannot be printed" in error.why
        return
    assert query is not None
    assert [
        (term.negative, term.name, [value.text for value in term.values]) for term in query.terms
    ] == terms


WRONG = {
    "typ:SendEmail": (0, 3, "did you mean type:?"),
    "-typ:x": (1, 3, "did you mean type:?"),
    "queue:a status:failed": (8, 6, "did you mean state:?"),
    "state:queued,ded_letter": (13, 10, "did you mean 'dead_letter'?"),
    "type:": (0, 5, "expected a value here"),
    "type:a,,b": (7, 1, "expected a value before the comma"),
    "type:a hello": (7, 5, "as in key:hello"),
    'key:"a b': (4, 4, "never closed"),
    'key:"a"b': (7, 1, "expected a blank or a comma"),
    'key:a"b"': (5, 1, "put the whole value in quotes"),
    'key:"a\\n"': (6, 1, "for a backslash"),
    'key:""': (4, 2, "something between the quotes"),
    "age:1h": (4, 2, "longer or shorter"),
    "age:>soon": (4, 5, "is not a duration"),
    "-since:2h": (0, 1, "takes no -"),
    "since:yesterday": (6, 9, "expected a length of time"),
    "since:2h,3h": (9, 2, "takes one value"),
    "attempt:>x": (8, 2, "expected attempt:>3"),
    "id:12": (3, 2, "at least its first 8 digits"),
    "args.password:x": (0, 13, "name of a secret"),
    "args.:x": (0, 5, "the path of an argument"),
    "type:a\x00b": (6, 1, "cannot be printed"),
    " ".join(["type:a"] * (MOST + 1)): (7 * MOST, 6, "at most 24 terms"),
    "x" * (LONGEST + 3): (LONGEST, 3, "at most 512 characters"),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_stands_where_it_is_said(text: str) -> None:
    at, length, why = WRONG[text]
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert (caught.value.at, caught.value.length) == (at, length)
    assert why in caught.value.why


def test_a_pasted_id_or_key() -> None:
    for text in (ID, ID.upper(), ID.replace("-", ""), f"{{{ID}}}", f" {ID}\n"):
        pasted = parse(text).pasted
        assert pasted is not None
        assert str(pasted.id) == ID
    assert (key := parse('"order 4711"').pasted) is not None
    assert (key.id, key.text) == (None, "order 4711")
    assert parse(f"{ID} state:failed").pasted is None
    assert parse("").pasted is None


def test_a_query_with_another_term() -> None:
    query = parse("type:a state:failed -queue:b")
    assert str(query.with_values("state", "queued")) == "type:a -queue:b state:queued"
    assert str(query.without("type", "state")) == "-queue:b"
    assert Query() == parse("  ")


STATES: dict[str, Any] = {
    "": None,
    "state:scheduled": ["scheduled"],
    "state:retrying": ["retrying"],
    "state:scheduled -state:retrying": ["first"],
    "state:Failed,dead_letter": ["dead_letter", "failed"],
    "-state:succeeded": [
        "blocked",
        "canceled",
        "dead_letter",
        "failed",
        "queued",
        "replayed",
        "running",
        "scheduled",
    ],
    "state:queued state:running": [],
    "-state:scheduled": [
        "blocked",
        "canceled",
        "dead_letter",
        "failed",
        "queued",
        "replayed",
        "running",
        "succeeded",
    ],
}


@pytest.mark.parametrize("text", STATES)
def test_states_as_the_database_is_asked_for_them(text: str) -> None:
    assert job_filter(parse(text), {}).get("states") == STATES[text]


def test_terms_as_the_database_is_asked_for_them() -> None:
    text = 'type:alias -queue:a,b attempt:>=3 age:<1h until:2026-02-16T10:30+01:00 args.a.b:4,"4",null id:0198f3c2-5b1e'
    names = {("type", "alias"): ["key"], ("queue", "a"): ["a"], ("queue", "b"): ["b"]}
    assert job_filter(parse(text), names) == {"terms": [
        {"field": "type", "not": False, "values": ["key"]},
        {"field": "queue", "not": True, "values": ["a", "b"]},
        {"field": "attempt", "not": False, "op": ">=", "number": 3.0},
        {"field": "since", "not": False, "ago": 3600.0},
        {"field": "until", "not": False, "at": "2026-02-16T09:30:00+00:00"},
        {"field": "args", "not": False, "any_of": [
            {"a": {"b": leaf}} for leaf in ("4", ["4"], 4, [4], "4", ["4"], "null", ["null"], None, [None])]},
        {"field": "id", "not": False, "ranges": [["0198f3c25b1e" + "0" * 20, "0198f3c25b1e" + "f" * 20]]},
    ]}  # fmt: skip
