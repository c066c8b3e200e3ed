"""Answers that are nearly JSON: each of the corpus is mended or skipped, as it says, and what is kept is of the allowed kind."""

from __future__ import annotations

import pytest

from examples.homepage.tagging.answers import tags_of
from examples.homepage.tagging.errors import BadAnswer
from examples.homepage.tagging.tags import CATEGORIES
from examples.homepage.tests.ai.corpus import CORPUS, GOOD


@pytest.mark.parametrize("name", CORPUS)
def test_the_corpus(name: str) -> None:
    text, why = CORPUS[name]
    if why is not None:
        with pytest.raises(BadAnswer, match="Failed to parse Claude response: ") as caught:
            tags_of(text, "end_turn")
        assert why in str(caught.value)
        assert caught.value.excerpt == text[:500]
        return
    tags = tags_of(text, "end_turn")
    assert 3 <= len(tags.topics) <= 5
    assert tags.sentiment == "positive"
    assert tags.categories == ["Technology"]
    assert (tags.confidence, len(CORPUS)) == (0.85, 30)


def test_what_stopped_it_counts() -> None:
    """An answer that was cut or refused is none, however whole it looks."""
    for reason in ("max_tokens", "refusal", "tool_use", None):
        with pytest.raises(BadAnswer):
            tags_of(GOOD, reason)


def test_topics_are_plain_text() -> None:
    """No markup, no characters that the database or a page would trip over, none twice, none of a sentence's length."""
    topics = r'["<b>AI</b>", "ai", "Chips\u0000", "Robots\u202e", "%s", "\ud800x"]' % ("long " * 20)
    found = tags_of(GOOD.replace('["AI", "Chips", "Robots"]', topics), "end_turn").topics
    assert found[:3] == ["AI", "Chips", "Robots"]
    assert all(one.isprintable() and "<" not in one for one in found)
    assert len(found) == 4
    assert len(CATEGORIES) == len(set(CATEGORIES))
