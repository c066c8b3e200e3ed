"""Section 7 of the design: jobs in its own columns while they wait, run, are tried again, and are given up."""

from __future__ import annotations

import asyncio
import socket

from examples.homepage.tests.site import Row, Site
from tests.support.workers import until

COLUMNS = [
    "id", "queue", "job_type", "priority", "payload", "scheduled_at", "locked_at", "locked_by", "attempts",
    "max_attempts", "last_error", "created_at",
]  # fmt: skip


async def test_the_life_of_a_job(site: Site) -> None:
    source = await site.source("/drip", error_count=3)
    job = await site.enqueue(source_id=source)
    [waits] = await site.rows("select * from delayed_jobs")
    assert list(waits) == COLUMNS
    assert (waits["id"], waits["queue"], waits["job_type"]) == (job, "DEFAULT", "RSS_FEED_REFRESH")
    assert (waits["priority"], waits["attempts"], waits["max_attempts"]) == (5, 1, 5)
    assert waits["payload"] == {"source_id": str(source), "force_refresh": False}
    assert waits["scheduled_at"] == waits["created_at"]
    assert waits["locked_at"] is waits["locked_by"] is waits["last_error"] is None

    working = asyncio.create_task(site.run())
    runs: list[Row] = []

    async def locked() -> bool:
        runs[:] = await site.rows("select * from delayed_jobs where locked_at is not null")
        return bool(runs) and site.service.asked["/drip"] == 1

    await until(locked)
    site.service.closing.set()
    await working
    assert (runs[0]["locked_by"], runs[0]["attempts"]) == (socket.gethostname(), 1)

    [again] = await site.rows("select * from delayed_jobs")
    assert again["last_error"].startswith("parse_error: ")
    assert (again["attempts"], again["locked_at"]) == (2, None)
    assert (again["scheduled_at"] - runs[0]["locked_at"]).total_seconds() >= 22.5
    await site.run(hurry=True)
    assert await site.rows("select * from delayed_jobs") == []
    [dead] = await site.rows("select * from delayed_jobs_dlq")
    assert list(dead)[:12] == COLUMNS
    assert (dead["id"], dead["attempts"], dead["reason"]) == (job, 2, "source_disabled")
