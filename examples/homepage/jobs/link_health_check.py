"""`LINK_HEALTH_CHECK`: which good sites are dead. A run is split in jobs by host, and each goes on where it was interrupted:
what has been asked since the run began is not asked again."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from datetime import datetime, timedelta

from examples.homepage.directory.link_resource import links
from examples.homepage.directory.settings import from_environment
from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.resources import database
from examples.homepage.statements import Row, row, rows
from postmill import Context, Idempotency, Mode, Snooze, aenqueue, aenqueue_many
from postmill.retrying import retry_after

PART = 500
"""About so many sites are checked by one job."""
LEAST_WAIT, LONGEST_RUN = 30.0, timedelta(days=1)
"""A host that asks for time gets at least so many seconds; what is not done so long after a run began is for the next one."""


@handles(JobType.LINK_HEALTH_CHECK, idempotency=Idempotency(Mode.ACTIVE, key="links:{part}/{parts}/{host}"))
async def LinkHealthCheckHandler(
    ctx: Context, since: datetime | None = None, part: int = 0, parts: int = 0, host: str = ""
) -> dict[str, int]:
    """Without `since` hands all sites over, to `parts` jobs; with it, checks those of one part that were not checked since.

    `host`: those of this one alone, which has asked for time.
    """
    if since is None:
        return await _hand_over(ctx)
    async with ctx.resource(database).connection() as conn:
        sites = await rows(conn, "sites_to_check", since=since, part=part, parts=parts, only=host)
    hosts: defaultdict[str, list[Row]] = defaultdict(list)
    for site in sites:
        hosts[site["host"]].append(site)
    told: Counter[str] = Counter()
    try:
        async with asyncio.TaskGroup() as group:
            for of_host in hosts.values():
                group.create_task(_check(ctx, of_host, since, told, alone=bool(host)))
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


async def _check(ctx: Context, sites: list[Row], since: datetime, told: Counter[str], *, alone: bool) -> None:
    """The sites of a host, one after the other. One that has had enough of us is left alone: for the time that it asks for,
    where that can be read, else until the next run, which begins with what has waited longest."""
    most = from_environment().link_failures
    for number, site in enumerate(sites, 1):
        found = await ctx.resource(links).check(site["url"])
        async with ctx.resource(database).connection() as conn:
            values = {"outcome": found.outcome, "error": found.error, "moved_to": found.moved_to}
            noted = await row(conn, "note_link", id=site["id"], since=since, most_failures=most, **values)
        told[found.outcome] += 1
        if found.enough and number < len(sites):
            told["postponed"] += len(sites) - number
            assert noted is not None
            await _later(ctx, site["host"], found.retry_after, since, noted["moment"], alone=alone)
        if found.enough:
            return


async def _later(
    ctx: Context, host: str, headers: tuple[str, ...], since: datetime, now: datetime, *, alone: bool
) -> None:
    """What is left of a host, in a job of its own, which others need not wait for. Raises Snooze, where it is in one."""
    asked = retry_after(list(headers), now)
    if asked is None:
        if headers:
            ctx.log.warning("retry_after_unreadable", host=host, headers=[one[:100] for one in headers])
        return
    wait = max(asked, LEAST_WAIT)
    if now + timedelta(seconds=wait) > since + LONGEST_RUN:
        return
    if alone:
        raise Snooze(wait, f"{host} asks for time")
    job = LinkHealthCheckHandler.using(delay=timedelta(seconds=wait))
    async with ctx.resource(database).connection() as conn:
        await aenqueue(conn, job.new(since=since, part=0, parts=1, host=host))
