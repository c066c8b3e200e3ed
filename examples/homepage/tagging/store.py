"""What becomes of items: taken, tagged, failed, given back. Each is one statement."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from psycopg.types.json import Jsonb

from examples.homepage.statements import Connection, Row, row, rows
from examples.homepage.tagging.tags import AiTags
from postmill.text import clean

MOST_FAILURES = 5
"""So many answers of no use, and nobody pays for another one."""

_LONGEST = 1000


async def untagged(conn: Connection) -> int:
    """How many items a run could tag now."""
    found = await row(conn, "untagged_count", most_failures=MOST_FAILURES)
    return int(found["untagged"]) if found else 0


async def take(conn: Connection, size: int) -> list[Row]:
    """A batch that nobody else has, the longest untagged first."""
    taken = await rows(conn, "take_untagged", size=size, most_failures=MOST_FAILURES)
    return sorted(taken, key=lambda item: (item["fetched_at"], item["id"]))


async def still_untagged(conn: Connection, item: UUID) -> bool:
    """Whether it is there, and nobody has tagged it meanwhile."""
    return await row(conn, "still_untagged", id=item) is not None


async def update_ai_tags(conn: Connection, item: UUID, tags: AiTags) -> None:
    """Keep the tags, unless somebody else's are there."""
    await rows(conn, "update_ai_tags", id=item, tags=Jsonb(tags.model_dump()))


async def failed(conn: Connection, item: UUID, error: str, *, counts: bool) -> None:
    """For the next hour; `counts`: towards the failures after which it is asked about no more."""
    await rows(conn, "tagging_failed", id=item, error=clean(error, _LONGEST), counts=counts)


async def release(conn: Connection, items: Sequence[UUID]) -> None:
    """Give back what was taken and not asked about."""
    if items:
        await rows(conn, "release_untagged", ids=list(items))


async def batch_delay(conn: Connection) -> float:
    """Seconds between two batches."""
    found = await row(conn, "batch_delay")
    return float(found["batch_delay"]) if found else 0.0


async def slow_down(conn: Connection, step: float) -> float:
    """Twice the delay, from one step to a minute."""
    found = await row(conn, "slow_down", step=step)
    return float(found["batch_delay"]) if found else step


async def speed_up(conn: Connection, step: float) -> None:
    """Half the delay."""
    await rows(conn, "speed_up", step=step)
