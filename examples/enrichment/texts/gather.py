"""The texts for one capture: a fair mixture of all sources, each text once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from examples.enrichment.texts.found import FoundText
from examples.enrichment.texts.manuals import translated_manuals
from examples.enrichment.texts.modules import docstrings, language_topics
from examples.enrichment.texts.packages import licences, readmes

DEFAULT_LIMIT = 300


def gather(limit: int = DEFAULT_LIMIT) -> list[FoundText]:
    """Up to `limit` different texts of this machine, one of each source in turn, always in the same order."""
    return mix([readmes(), docstrings(), translated_manuals(), licences(), language_topics()], limit)


def mix(sources: Iterable[Iterable[FoundText]], limit: int) -> list[FoundText]:
    """One text of each source in turn, without repetitions, until `limit` is reached or all are used up."""
    seen: set[str] = set()
    mixed: list[FoundText] = []
    for text in _in_turn(sources):
        if len(mixed) >= limit:
            break
        if text.fingerprint not in seen:
            seen.add(text.fingerprint)
            mixed.append(text)
    return mixed


def _in_turn(sources: Iterable[Iterable[FoundText]]) -> Iterator[FoundText]:
    for group in zip_longest(*sources):
        yield from (text for text in group if text is not None)
