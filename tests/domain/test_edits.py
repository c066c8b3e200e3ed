"""Merge patches, and what an edit changed as it may be written into the audit log."""

from __future__ import annotations

from typing import Any

import pytest

from postmill.domain.edits import MOST, changes, merged
from postmill.domain.errors import InvalidValue
from postmill.domain.letters import LetterFilter
from postmill.domain.pace import Pace


@pytest.mark.parametrize(
    ("old", "patch", "new"),
    [  # RFC 7396, appendix A
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch(old: Any, patch: Any, new: Any) -> None:
    assert merged(old, patch) == new


def test_changes_have_no_secrets() -> None:
    old = {"to": "Rome", "api_key": "k-1", "n": 1, "deep": {"a/b": [1, 2]}, "same": [1], "note": "x"}
    new = {"to": "Paris", "api_key": "k-2", "n": True, "deep": {"a/b": [1, 3]}, "same": [1], "pin": "1234"}
    assert changes(old, new) == [
        {"path": "/to", "before": "Rome", "after": "Paris"},
        {"path": "/api_key", "before": "[redacted]", "after": "[redacted]"},
        {"path": "/n", "before": 1, "after": True},
        {"path": "/deep/a~1b/1", "before": 2, "after": 3},
        {"path": "/note", "before": "x"},
        {"path": "/pin", "after": "[redacted]"},
    ]
    assert changes({"to": "a"}, {"to": "b"}, ["to"]) == [
        {"path": "/to", "before": "[redacted]", "after": "[redacted]"}
    ]
    assert changes({"url": "x"}, {"url": "https://ann:hunter2@host/"}) == [
        {"path": "/url", "before": "x", "after": "https://ann:[redacted]@host/"}
    ]
    assert changes({"inner": {"token": "a"}}, {"inner": "none"}) == [
        {"path": "/inner", "before": {"token": "[redacted]"}, "after": "none"}
    ]


def test_changes_of_what_is_encrypted_have_no_values() -> None:
    assert changes({"a": 1}, {"a": 2, "b": 3}, hide=True) == [
        {"path": "/a", "before": "[redacted]", "after": "[redacted]"},
        {"path": "/b", "after": "[redacted]"},
    ]


def test_changes_are_bounded() -> None:
    made = changes({}, {str(n): "x" * 1000 for n in range(MOST + 7)})
    assert len(made) == MOST + 1
    assert made[-1]["after"] == "7 more"
    assert len(made[0]["after"]) == 201


@pytest.mark.parametrize("wrong", [{"rate": 0}, {"rate": float("inf")}, {"rate": 1e9}, {"canary": -1}])
def test_a_pace_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        Pace(**wrong)


def test_a_discard_has_no_canary() -> None:
    with pytest.raises(InvalidValue, match="canary goes with a replay only"):
        Pace(canary=1).check("discard")
    assert Pace(rate=2.5).json == {"rate": 2.5}
    assert LetterFilter(error_status=429, queue="a").json == {"queue": "a", "error_status": 429}
