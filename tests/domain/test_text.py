import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill.domain.text import clean, unstorable

hostile = st.text(st.characters() | st.sampled_from("\x00\ud800\udfff𝄞é"))


@given(hostile, st.integers(16, 600))
def test_clean_text_can_always_be_stored_within_the_limit(text: str, limit: int) -> None:
    made = clean(text, limit)
    assert len(made.encode()) <= limit
    assert unstorable(made) is None


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=100))
def test_good_text_is_not_touched(text: str) -> None:
    assert clean(text, 400) == text


def test_the_literal_escape_is_good_text() -> None:
    assert clean(r"a \u0000 b", 100) == r"a \u0000 b"


@pytest.mark.parametrize("filler", ["x", "é"])
def test_text_that_just_fits_is_whole_and_one_more_byte_is_cut(filler: str) -> None:
    text = filler * (200 // len(filler.encode()))
    assert clean(text, 200) == text
    assert "cut, " in clean(text + filler, 200)


def test_a_limit_too_small_for_the_mark_is_kept_without_it() -> None:
    assert clean("x" * 100, 20) == "x" * 20


def test_bad_characters_are_replaced_one_by_one() -> None:
    assert clean("a\0b\ud83dc", 100) == "a\ufffdb\ufffdc"


@pytest.mark.parametrize("filler", ["x", "é", "𝄞", "\ud800"])
def test_head_and_tail_are_kept_with_a_mark_of_the_cut(filler: str) -> None:
    made = clean("HEAD" + filler * 100_000 + "TAIL", 1024)
    assert made.startswith("HEAD")
    assert made.endswith("TAIL")
    assert "cut, 100008 characters in all" in made
    assert 1000 < len(made.encode()) <= 1024


@pytest.mark.parametrize(
    ("text", "why"), [("a\0", "NUL"), ("\ud800x", r"surrogate \(U\+D800\)"), ("x\udc80", r"U\+DC80")]
)
def test_what_cannot_be_stored_is_named(text: str, why: str) -> None:
    found = unstorable(text)
    assert found is not None
    assert re.search(why, found)
