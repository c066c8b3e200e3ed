"""What changed, field by field, without secrets."""

from __future__ import annotations

from postmill.console.pages.differences import changes


def test_changes() -> None:
    before = {"a": 1, "gone": "x", "same": [1], "password": "old", "deep": {"n": 1}}
    after = {"a": 2, "same": [1], "new": None, "password": "new", "deep": {"n": 2}, "long": "x" * 900}
    assert changes(before, after) == [
        ("a", "1", "2"),
        ("deep", '{"n": 1}', '{"n": 2}'),
        ("gone", "x", None),
        ("long", None, "x" * 400 + "…"),
    ]
    assert changes({}, {}) == []
