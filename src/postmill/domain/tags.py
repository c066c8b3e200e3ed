"""Tags: short words by which people find jobs again (`tag:vip` in a query). They change nothing about how a job runs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from postmill.domain.errors import InvalidValue

MOST = 8
"""Tags of one job."""

LONGEST = 40
"""Characters of a tag."""

_TAG = re.compile(r"[^-\s,\"\x00-\x1f\x7f][^\s,\"\x00-\x1f\x7f]*")


def check_tags(tags: object) -> tuple[str, ...]:
    """The tags of a job, each once, in their order.

    Raises:
        TypeError: it is no list of texts.
        ValueError: more than 8, or one that is none: 1 to 40 printable characters without blanks, commas and quotes, which
            end a word in queries, and without a minus at the beginning, which takes a tag away.
    """
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise TypeError(f"must be a list of words, not {tags!r:.60}")
    made = tuple(dict.fromkeys(check_tag(tag) for tag in tags))
    if len(made) > MOST:
        raise ValueError(f"has {len(made)}; {MOST} are allowed")
    return made


def check_tag(tag: object) -> str:
    """`tag`, if it is one. Raises TypeError, ValueError."""
    if not isinstance(tag, str):
        raise TypeError(f"must be a list of words, not of {type(tag).__name__}")
    if not (len(tag) <= LONGEST and _TAG.fullmatch(tag) and tag.isprintable()):
        raise ValueError(
            f"{tag[:60]!r} is no tag: 1 to {LONGEST} characters without blanks, commas and quotes, and no minus at the beginning"
        )
    return tag


def changes(text: str) -> tuple[str, ...]:
    """What a person wrote to change tags: `vip -old` gives one and takes one away.

    Raises:
        InvalidValue: nothing, or a word that is no tag; more than 8 in either direction.
    """
    found = tuple(dict.fromkeys(word for word in re.split(r"[\s,]+", text) if word))
    check_changes(found)
    return found


def check_changes(words: Iterable[str]) -> None:
    """Raises InvalidValue where words are no tags, each with or without a minus before it."""
    words = list(words)
    given, taken = (
        [one for one in words if not one.startswith("-")],
        [one[1:] for one in words if one.startswith("-")],
    )
    if not words:
        raise InvalidValue("tags: expected words such as vip, with a minus to take one away: -old")
    try:
        check_tags(given)
        check_tags(taken)
    except (TypeError, ValueError) as fault:
        raise InvalidValue(f"tags: {fault}") from None
    if both := set(given) & set(taken):
        raise InvalidValue(f"tags: {min(both)} is both given and taken away")
