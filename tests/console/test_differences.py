"""What changed, field by field, without secrets; and what tells nothing, since all have it alike."""

from __future__ import annotations

from postmill.console.failures import compare
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


def test_what_all_have_alike_says_nothing() -> None:
    share = compare.Share
    alike = compare.Comparison("Host", [share("a", 36, 1.0, 1.0)])
    assert alike.says_nothing
    for told in (
        [share("a", 36, 1.0, 0.9)],
        [share("a", 36, 1.0, None)],
        [share("a", 1, 0.5, 1.0), share("b", 1, 0.5, 0.0)],
    ):
        assert not compare.Comparison("Host", told).says_nothing
