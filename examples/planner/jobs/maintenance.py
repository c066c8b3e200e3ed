"""Housekeeping of one organization, each night: bounded, slow on purpose, and never beyond what retention allows."""

from __future__ import annotations

from datetime import date
from uuid import UUID

from examples.planner.policy import Action
from examples.planner.queues import MAINTENANCE
from examples.planner.scope import admitted
from examples.planner.statements import do, row
from postmill import Context, Limit, Rate, job

BATCH = 500
MOST_BATCHES = 20
"""One night deletes at most 10,000 keys of an organization; the rest is for the next."""

GENTLE = [Limit(max_running=2, rate=Rate(30, per=60, burst=2))]
"""Over the whole fleet, for each of the two types: two at once, thirty a minute."""


@job("maintenance.expired-keys", queue=MAINTENANCE, category="maintenance", strict_envelope=True,
    timeout=600, limits=GENTLE, log_fields=("night",),
    action="Nothing is lost: the next night does it. Discard",
)  # fmt: skip
async def expired_keys(ctx: Context, night: date) -> dict[str, int]:
    """Deletes keys whose time is over, of notifications and of the API; Postmill's own go by its upkeep."""
    deleted = {"deliveries": 0, "request_keys": 0}
    for name, statement in (("deliveries", "expired_deliveries"), ("request_keys", "expired_request_keys")):
        for _ in range(MOST_BATCHES):
            ctx.checkpoint()
            async with admitted(ctx, Action.MAINTAIN) as conn:
                gone = await do(conn, statement, most=BATCH)
            deleted[name] += gone
            if gone < BATCH:
                break
    return deleted


@job("maintenance.rebuild-search", queue=MAINTENANCE, category="maintenance", strict_envelope=True,
    timeout=600, limits=GENTLE, log_fields=("night",),
    action="Search finds what it found before. Replay, or wait for the next night",
)  # fmt: skip
async def rebuild_search(ctx: Context, night: date) -> dict[str, int]:
    """Writes the search index anew, page by page; what is found is never less than before."""
    written, last = 0, UUID(int=0)
    while True:
        ctx.checkpoint()
        async with admitted(ctx, Action.MAINTAIN) as conn:
            page = await row(conn, "rebuild_search_page", after=last, most=BATCH)
        assert page is not None
        written += page["written"]
        if page["last"] is None:
            return {"written": written}
        last = page["last"]
