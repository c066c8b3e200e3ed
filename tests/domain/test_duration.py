from datetime import timedelta

import pytest

from postmill.domain.duration import LONGEST, parse, seconds, written


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0.0), (1.5, 1.5), (timedelta(minutes=2), 120.0), (timedelta(milliseconds=5), 0.005)],
)
def test_numbers_and_timedeltas_are_seconds(value: object, expected: float) -> None:
    assert seconds(value) == expected


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -1, timedelta(seconds=-1), 1e300, 10**400, LONGEST + 1]
)
def test_lengths_that_are_none_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="the delay must be"):
        seconds(value, "the delay")


@pytest.mark.parametrize("value", ["5", None, True, [1], object()])
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match=f"not {type(value).__name__}"):
        seconds(value)


def test_ten_years_is_the_most() -> None:
    assert seconds(LONGEST) == seconds(timedelta(days=3650)) == LONGEST


def test_zero_is_refused_only_where_it_makes_no_sense() -> None:
    assert seconds(0) == 0
    with pytest.raises(ValueError, match="more than 0"):
        seconds(0, zero=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30", 30), (" 30s ", 30), ("1.5 min", 90), ("5m", 300), ("24h", 86400), ("7D", 604800), ("200ms", 0.2),
        ("2w", 1209600),
    ],
)  # fmt: skip
def test_text_with_and_without_units(text: str, expected: float) -> None:
    assert parse(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["30d", "7d", "12h", "90m", "5m", "90s", "1.5s", "200ms", "0s", "0.5ms"])
def test_written_as_it_is_read(text: str) -> None:
    assert written(parse(text)) == text


@pytest.mark.parametrize("text", ["", "s", "-5s", "5 years", "1e3", "٣s", "5s5s", "9" * 5000])
def test_text_that_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="lease"):
        parse(text, "lease")
