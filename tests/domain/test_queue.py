import pytest

from postmill.domain.errors import UnknownQueue
from postmill.domain.queue import check_queue_name, match_queue


def test_case_does_not_matter_where_one_queue_fits() -> None:
    assert match_queue("high", ["HIGH", "LOW"]) == "HIGH"
    assert match_queue("Q:Critical", ["q:critical"]) == "q:critical"


def test_the_exact_spelling_wins_over_another_case() -> None:
    assert match_queue("high", ["HIGH", "high"]) == "high"


def test_an_ambiguous_name_is_refused_with_the_competitors() -> None:
    with pytest.raises(UnknownQueue, match="could be any of: HIGH, high; spell it exactly"):
        match_queue("High", ["HIGH", "high", "low"])


def test_an_unknown_name_says_what_exists_and_what_was_meant() -> None:
    with pytest.raises(
        UnknownQueue, match=r"unknown queue 'hgih'; did you mean 'high'\? known queues: high, low"
    ):
        match_queue("hgih", ["low", "high"])


@pytest.mark.parametrize("name", ["default", "q:critical", "SCREENSHOT", "ünïcode", "a" * 128])
def test_names_that_queues_have(name: str) -> None:
    assert check_queue_name(name) == name


@pytest.mark.parametrize("name", ["", "a" * 129, "a b", "a,b", "a=1", "a\0b", "a\nb", "\ud800", "a\u202eb"])
def test_names_that_no_queue_can_have(name: str) -> None:
    with pytest.raises(ValueError, match="queue name"):
        check_queue_name(name)
