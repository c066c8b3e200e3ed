"""`LINK_HEALTH_CHECK`: which good sites are dead. A run is split in jobs by host, and each goes on where it was interrupted:
what has been asked since the run began is not asked again."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from datetime import datetime

from examples.homepage.directory.link_resource import links
from examples.homepage.directory.settings import from_environment
from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.resources import database
from examples.homepage.statements import Row, row, rows
from postmill import Context, Idempotency, Mode, aenqueue_many

PART = 500
"""About so many sites are checked by one job."""


@handles(JobType.LINK_HEALTH_CHECK, idempotency=Idempotency(Mode.ACTIVE, key="links:{part}/{parts}"))
async def LinkHealthCheckHandler(
    ctx: Context, since: datetime | None = None, part: int = 0, parts: int = 0
) -> dict[str, int]:
    """Without `since` hands all sites over, to `parts` jobs; with it, checks those of one part that were not checked since."""
    if since is None:
        return await _hand_over(ctx)
    async with ctx.resource(database).connection() as conn:
        sites = await rows(conn, "sites_to_check", since=since, part=part, parts=parts)
    hosts: defaultdict[str, list[Row]] = defaultdict(list)
    for site in sites:
        hosts[site["host"]].append(site)
    told: Counter[str] = Counter()
    try:
        async with asyncio.TaskGroup() as group:
            for of_host in hosts.values():
                group.create_task(_check(ctx, of_host, since, told))
    except ExceptionGroup as faults:
        # What is said of the job is the fault itself, by which it is decided whether another attempt is worth it.
        raise faults.exceptions[0] from faults
    return dict(told)


[LinkHealthCheckScheduler] = schedules(JobType.LINK_HEALTH_CHECK, LinkHealthCheckHandler)


async def _hand_over(ctx: Context) -> dict[str, int]:
    async with ctx.transaction() as transaction:
        found = await row(transaction, "count_sites")
        assert found is not None
        parts = -(-found["sites"] // PART)
        jobs = [
            LinkHealthCheckHandler.new(since=found["moment"], part=part, parts=parts) for part in range(parts)
        ]
        made = await aenqueue_many(transaction.connection, jobs)
        told = {"sites": found["sites"], "handed_over": sum(job.created for job in made)}
        transaction.result = told
    return told


async def _check(ctx: Context, sites: list[Row], since: datetime, told: Counter[str]) -> None:
    """The sites of a host, one after the other. One that has had enough of us is left alone until the next run, which
    begins with what has waited longest."""
    most = from_environment().link_failures
    for number, site in enumerate(sites, 1):
        found = await ctx.resource(links).check(site["url"])
        async with ctx.resource(database).connection() as conn:
            values = {"outcome": found.outcome, "error": found.error, "moved_to": found.moved_to}
            await row(conn, "note_link", id=site["id"], since=since, most_failures=most, **values)
        told[found.outcome] += 1
        if found.enough:
            told["postponed"] += len(sites) - number
            return
