"""The tags of an item, as they are kept in `feed_items.ai_tags`."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from postmill.text import clean

CATEGORIES = (
    "Technology",
    "Business",
    "Science",
    "Health",
    "Politics",
    "Entertainment",
    "Sports",
    "World",
    "Environment",
    "Education",
    "Lifestyle",
    "Travel",
)
"""There are no others."""

MOST_TOPICS = 5
LONGEST_TOPIC = 60

_OWN = {category.casefold(): category for category in CATEGORIES}
_MARKUP = re.compile(r"<[^>]*>|[<>]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u200b-\u200f\u2028-\u202e\ufffd]+")


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("a list of texts is wanted")
    plain = (" ".join(_CONTROL.sub(" ", _MARKUP.sub("", clean(one, 1000))).split()) for one in value)
    # The first spelling of each stays.
    return list({one.casefold(): one for one in reversed([one for one in plain if one])}.values())[::-1]


def _topics(value: object) -> list[str]:
    return [one for one in _texts(value) if len(one) <= LONGEST_TOPIC][:MOST_TOPICS]


def _categories(value: object) -> list[str]:
    return [_OWN[one.casefold()] for one in _texts(value) if one.casefold() in _OWN][:3]


def _word(value: object) -> object:
    return value.strip().casefold() if isinstance(value, str) else value


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a number is wanted")
    return value


class AiTags(BaseModel):
    """Of one item. What is mended: topics beyond the fifth and unknown categories are left out, case and blanks are made even.

    Raises ValidationError for anything else: fewer than three topics, no known category, another sentiment.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    topics: Annotated[list[str], BeforeValidator(_topics), Field(min_length=3)]
    sentiment: Annotated[Literal["positive", "negative", "neutral", "mixed"], BeforeValidator(_word)]
    categories: Annotated[list[str], BeforeValidator(_categories), Field(min_length=1)]
    confidence: Annotated[float, BeforeValidator(_number), Field(ge=0, le=1, allow_inf_nan=False)]
