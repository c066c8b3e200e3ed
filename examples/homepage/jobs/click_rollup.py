"""`CLICK_ROLLUP`: clicks become counts by site and hour, and are deleted after 90 days (P14)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from examples.homepage.clicks.rollup import delete_old, roll_up
from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.resources import database
from examples.homepage.statements import Connection
from postmill import Context, Idempotency, Mode


@handles(
    JobType.CLICK_ROLLUP,
    idempotency=Idempotency(Mode.ACTIVE, key="click_rollup"),
    action="Clicks wait in the table clicks until a run succeeds; none is deleted before it is counted",
)
async def ClickRollupHandler(ctx: Context) -> dict[str, int]:
    """Counts all clicks that are not counted, then deletes what is counted and 90 days old; batch by batch."""
    counted = await _all(ctx, roll_up)
    return {"counted": counted, "deleted": await _all(ctx, delete_old)}


[ClickRollupScheduler] = schedules(JobType.CLICK_ROLLUP, ClickRollupHandler)


async def _all(ctx: Context, batch: Callable[[Connection], Awaitable[int]]) -> int:
    done = 0
    async with ctx.resource(database).connection() as conn:
        while made := await batch(conn):
            done += made
            ctx.checkpoint()
    return done
