"""Section 11: jobs that have waited for more than ten minutes rise, and administrators put jobs before others."""

from __future__ import annotations

from uuid import UUID, uuid4

from psycopg import AsyncConnection

from examples.homepage.queues import FAMILIES, HIGH
from examples.homepage.tests.site import Site

ROUND = "select * from postmill.boost_round(null, null, 100, 100, 1000)"


async def priority(site: Site, job: UUID) -> int:
    """That of a job that waits, as the view of the design has it."""
    return int((await site.row("select priority from delayed_jobs where id = %s", job))["priority"])


async def rise(site: Site, later: str) -> None:
    """A round of upkeep, so much later."""
    async with await AsyncConnection.connect(site.later(later), autocommit=True) as conn:
        await conn.execute(ROUND.encode())


async def test_who_waits_for_more_than_ten_minutes_rises(site: Site) -> None:
    """A step for each ten minutes, up to the most urgent; what is most urgent already stays."""
    assert {family.queue.name for family in FAMILIES if family.queue.boost} == {
        family.queue.name for family in FAMILIES if family is not HIGH
    }
    job, urgent = await site.enqueue("CLICK_ROLLUP"), await site.enqueue("STOCK_REFRESH")
    seen = []
    for later in ("9 min 50 s", "10 min 10 s", "35 min", "3 h"):
        await rise(site, later)
        seen.append(await priority(site, job))
    assert seen == [7, 6, 4, 0]
    assert await priority(site, urgent) == 0


async def test_administrators_put_jobs_before_others(site: Site) -> None:
    """The reason is in the audit log; what runs, has ended or is not there has no place in a queue."""
    job = await site.enqueue("LINK_HEALTH_CHECK")
    path = f"/admin/api/jobs/{job}/priority"
    answer = await site.http.patch(path, json={"priority": 1, "reason": "a site was hacked"})
    assert (answer.status_code, answer.json()) == (200, {"job_id": str(job), "priority": 1})
    assert await priority(site, job) == 1
    [line] = await site.rows("select * from postmill.audit_log where action = 'jobs.priority'")
    assert (line["actor_type"], line["actor_id"], line["target"]) == ("user", "admin", str(job))
    assert (await site.http.patch(path, json={"priority": 1})).status_code == 200, "as it is"
    for body in ({"priority": 11}, {"priority": -1}, {}, {"priority": 1, "reason": ""}):
        assert (await site.http.patch(path, json=body)).status_code == 422, body
    missing = await site.http.patch(f"/admin/api/jobs/{uuid4()}/priority", json={"priority": 1})
    assert missing.status_code == 404
    await site.run()
    over = await site.http.patch(path, json={"priority": 2})
    assert (over.status_code, "it has ended" in over.text) == (409, True)
