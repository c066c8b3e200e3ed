"""How the replays of jobs stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from postmill.store.catalog import DEFAULT_SCHEMA, sql
from postmill.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Replay:
    """The latest replay of a job, and its state."""

    id: UUID
    state: str


def read_latest_replays(
    ids: Sequence[UUID], *, schema: str = DEFAULT_SCHEMA
) -> Statement[dict[UUID, Replay]]:
    """By the id of what was replayed; without those that never were."""
    return Statement(
        "read_latest_replays",
        sql("jobs/read_latest_replays", schema),
        (list(ids),),
        lambda rows: {row[0]: Replay(row[1], row[2]) for row in rows},
    )
