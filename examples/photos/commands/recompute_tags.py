"""`zoltag recompute-trained-tags` and `recompute-zeroshot-tags`: look at pictures anew and write their tags with scores.

Some pictures at a time, each batch in one transaction: who is killed leaves whole batches, and pictures as they were before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal
from uuid import UUID

from psycopg import Connection

from examples.photos.library import Library
from examples.photos.model import zero_shot
from examples.photos.model.features import Vector, features, load
from examples.photos.model.keyword_model import KeywordModel
from examples.photos.statements import run

BATCH = 50
TRAINED_FROM = 0.5
ZEROSHOT_FROM = 0.65
"""Scores from which a keyword becomes a tag."""

Source = Literal["trained", "zeroshot"]
Tags = dict[str, float]
TagsOf = Callable[[Vector], Tags]


def by_models(models: Sequence[KeywordModel]) -> TagsOf:
    """Tags of a picture by its pixels: each keyword whose model says so."""

    def tags(pixels: Vector) -> Tags:
        seen = features(pixels)
        scores = {model.keyword: model.score(seen) for model in models}
        return {keyword: score for keyword, score in scores.items() if score >= TRAINED_FROM}

    return tags


def by_description(pixels: Vector) -> Tags:
    """Tags of a picture by its pixels: each keyword whose description fits."""
    return {word: score for word, score in zero_shot.scores(pixels).items() if score >= ZEROSHOT_FROM}


def recompute_tags(
    conn: Connection[Any],
    library: Library,
    tenant_id: UUID,
    source: Source,
    tags_of: TagsOf,
    ingest_id: UUID | None,
) -> tuple[int, int]:
    """How many pictures were looked at, and how many tags they have now. `ingest_id`: only those that it brought."""
    wanted = run(conn, "pictures_to_tag", tenant_id=tenant_id, ingest_id=ingest_id).fetchall()
    seen = tagged = 0
    for batch in _batches(wanted):
        found = [
            (id, keyword, score)
            for id, hash in batch
            for keyword, score in tags_of(load(library.path(hash))).items()
        ]
        run(
            conn,
            "replace_tags",
            tenant_id=tenant_id,
            source=source,
            pictures=[id for id, _ in batch],
            tagged=[id for id, _, _ in found],
            keywords=[keyword for _, keyword, _ in found],
            scores=[score for _, _, score in found],
        )
        seen, tagged = seen + len(batch), tagged + len(found)
    return seen, tagged


def _batches(rows: Sequence[tuple[UUID, str]]) -> Iterator[Sequence[tuple[UUID, str]]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]
