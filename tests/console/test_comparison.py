"""What failures and successes have in common says nothing of a cause."""

from __future__ import annotations

from postmill.console.failures import compare


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
