import pytest

from postmill.cli.errors import CliError
from postmill.cli.queues_arg import DEFAULT_SLOTS, match_queues, parse_queues
from postmill.domain.errors import UnknownQueue
from postmill.domain.slot_range import SlotRange


def test_slots_by_queue_in_the_order_given():
    assert list(parse_queues(["high=20,default=10"]).items()) == [("high", 20), ("default", 10)]


def test_the_option_may_be_repeated_and_spaced():
    assert parse_queues([" high = 20 ", "q:low=1, bulk"]) == {"high": 20, "q:low": 1, "bulk": DEFAULT_SLOTS}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "empty part"),
        ("high=20,", "empty part"),
        ("high=", "whole number"),
        ("high=0", "whole number"),
        ("high=-1", "whole number"),
        ("high=2.5", "whole number"),
        ("high=40..5", "1 <= MIN < MAX"),
        ("high=5..", "as 5..40, not '5..'"),
        ("high=٣", "whole number"),
        ("high=10001", "whole number"),
        ("high=" + "9" * 400, "whole number"),
        ("=5", "1 to 128 characters"),
        ("a b=5", "may not"),
        ("a=1,a=2", "twice"),
        ("a=1=2", "whole number"),
    ],
)
def test_a_wrong_part_is_named_with_the_syntax(given, said):
    with pytest.raises(CliError) as refused:
        parse_queues([given])
    assert said in str(refused.value)
    assert "NAME=SLOTS" in refused.value.hint
    assert refused.value.code == 2


def test_a_range():
    assert parse_queues(["high=5..40,low"]) == {"high": SlotRange(5, 40), "low": 10}


def test_case_does_not_matter_where_one_fits():
    assert match_queues({"HIGH": 2, "low": 1}, ["High", "low", "LOW"]) == {"High": 2, "low": 1}


def test_an_unknown_queue_is_answered_with_what_was_meant():
    with pytest.raises(UnknownQueue, match="did you mean 'default'"):
        match_queues({"defualt": 2}, ["default", "high"])


def test_slots_behind_a_colon_are_told_from_a_queue_of_such_a_name():
    with pytest.raises(CliError, match="slots follow '='"):
        match_queues({"default:2": 10}, ["default"])
    assert match_queues({"q:2": 10}, ["q", "q:2"]) == {"q:2": 10}
    with pytest.raises(UnknownQueue):
        match_queues({"q:high": 10}, ["q"])


def test_two_spellings_of_one_queue_are_one_too_many():
    with pytest.raises(CliError, match="twice"):
        match_queues({"high": 2, "HIGH": 1}, ["high"])
