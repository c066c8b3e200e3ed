"""What the console's pages cost the server beside many jobs, and what open tabs cost the database."""

from __future__ import annotations

import asyncio
import os
from itertools import count
from time import perf_counter
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI
from psycopg import AsyncConnection

from postmill.bench.case import BenchError, Case, Figures, Option
from postmill.bench.ground import Ground
from postmill.bench.pages import asked, paths_of
from postmill.bench.place import Place
from postmill.bind import adrive, arun
from postmill.console import create_app
from postmill.console.frame.timings import Timings
from postmill.domain.access import Role
from postmill.domain.settings import Settings
from postmill.engine.garbage import calm
from postmill.operate.keys import create_key
from postmill.store.catalog import sql
from postmill.store.statement import Statement

JOBS = Option("jobs", int, 1_000_000, "jobs in the tables, of 200 tenants over 20 days", least=1000)
SAMPLES = Option(
    "samples", int, 24, "requests for each page by one user, and again by eight at once", least=8
)
TABS = Option("tabs", int, 20, "open tabs, each of which refreshes its live parts every 5 s", least=1)
SECONDS = Option("seconds", int, 30, "for how long the tabs are open", least=1)

BATCH = 100_000
USERS = 8
TARGETS = {1_000_000: (0.050, 0.150), 10_000_000: (0.100, 0.300)}
"""Jobs, and the seconds within which 95 of 100 answers should come: to one user, and to eight at once."""
INTERVAL = 5.0
PEOPLE = 4
"""Who have the tabs open: each a tab of each page."""
TOLD, MEASURED = 2.0, 5
"""Seconds between two rounds that tell of jobs that ended, and of how many of them one tells of a measurement."""
SLUG = "tenant-0"


def measure(place: Place, options: dict[str, Any]) -> Figures:
    """Fills a schema, asks for each page, and lets tabs refresh for a while."""
    with place.ground() as ground:
        fill(ground, options["jobs"])
        return asyncio.run(_measure(ground, options))


def fill(ground: Ground, jobs: int) -> None:
    """A platform that has seen so many jobs."""
    ground.run("bench/console_partitions")
    ground.run("bench/console_people")
    ground.run("bench/console_workflows")
    ground.run("bench/console_minutes")
    ground.run("bench/console_hours")
    for start in range(0, jobs, BATCH):
        ground.place.progress(f"writing jobs, {start:,} of {jobs:,}")
        ground.run("bench/console_jobs", min(BATCH, jobs - start), start, jobs)
    ground.run("bench/console_fold")
    ground.place.progress("vacuuming")
    ground.run("bench/console_settle")


def things(ground: Ground) -> dict[str, str]:
    """One of each that has a page of its own, by the part of the path before it."""
    dead, done, cause, operation, budget, workflow = map(str, ground.run("bench/console_things")[0])
    named = ground.run("bench/console_named")[0]
    return {
        "jobs": done, "dead": dead, "errors": cause, "ops-log": operation, "budgets": budget, "budget-named": "llm",
        "queues": "queue-0", "workers": str(named[0]), "triggers": str(named[1]), "tenants": SLUG, "definitions": "type-0",
        "definition-try": "type-0", "definition-edit": "type-0", "workflows": workflow,
    }  # fmt: skip


async def _measure(ground: Ground, options: dict[str, Any]) -> Figures:
    jobs, samples, tabs = options["jobs"], options["samples"], options["tabs"]
    settings = Settings.model_validate(
        {"database_url": ground.place.dsn, "schema": ground.schema, "server": {"rate_per_key": 1e6}}
    )
    app = create_app(settings)
    async with await AsyncConnection.connect(ground.place.dsn, autocommit=True) as conn:
        keys = [
            (await adrive(conn, create_key(f"bench {n}", Role.SUPER_ADMIN, schema=ground.schema))).key
            for n in range(PEOPLE)
        ]
    async with app.router.lifespan_context(app):
        paths = paths_of(app, SLUG, things(ground))
        calm()  # as a server does when it starts
        pages = [await _page(ground, app, path, keys[0], samples) for path in paths]
        async with app.state.live.joined("bench", None, app.state.backend):
            share = await _tabs(ground, app, keys, tabs, options["seconds"])
    alone, many = next(
        (target for most, target in TARGETS.items() if jobs <= most), list(TARGETS.values())[-1]
    )
    late = [one for one in pages if one["p95_ms"] > alone * 1000 or one["many_p95_ms"] > many * 1000]
    return {
        "jobs": jobs,
        "pages": pages,
        "p95_ms": max(one["p95_ms"] for one in pages),
        "many_p95_ms": max(one["many_p95_ms"] for one in pages),
        "target_ms": [alone * 1000, many * 1000],
        "above_target": [one["page"] for one in late],
        "tabs": tabs,
        "tabs_database_share": share,
    }


async def _page(ground: Ground, app: FastAPI, path: str, key: str, samples: int) -> dict[str, Any]:
    """Milliseconds of one page, alone and eight at once, and the statement that took most of it."""
    ground.place.progress(f"page {path}")
    # Warm is a page that every connection has read before: a connection makes its plans once, and requests take turns on them.
    for _ in range(2 * app.state.backend.pool.max_size):
        status, _, size, _ = await asked(app, path, key)
        if status not in (200, 303):
            raise BenchError(f"{path} answered {status}")
    app.state.timings = Timings()
    alone = sorted([(await asked(app, path, key))[1] for _ in range(samples)])
    slowest = max(app.state.timings.slowest(100), key=lambda one: one.seconds, default=None)
    worst = (
        None
        if slowest is None
        else {"statement": slowest.name, "ms": round(1000 * slowest.seconds / samples, 2)}
    )
    many: list[float] = []
    for _ in range(max(1, samples // USERS)):
        many += [one[1] for one in await asyncio.gather(*(asked(app, path, key) for _ in range(USERS)))]
    many.sort()
    return {
        "page": unquote(path),
        "bytes": size,
        "p50_ms": _at(alone, 0.5),
        "p95_ms": _at(alone, 0.95),
        "many_p50_ms": _at(many, 0.5),
        "many_p95_ms": _at(many, 0.95),
        "slowest": worst,
    }


async def _tabs(ground: Ground, app: FastAPI, keys: list[str], tabs: int, seconds: int) -> float:
    """The share of this machine's processors that the database works on what open tabs ask for, while a fleet works: of the
    topics of jobs something is heard of every two seconds.
    """
    ground.place.progress(f"{tabs} tabs, open for {seconds} s")
    interval = min(INTERVAL, seconds)

    async def tab(number: int) -> None:
        path, parts = TABBED[number % len(TABBED)]
        key = keys[number // len(TABBED) % len(keys)]
        tag = ""
        asks = "&".join(f"_part={part}" for part in parts)
        until = began + number / tabs * interval
        while until < began + seconds:
            await asyncio.sleep(max(0.0, until - perf_counter()))
            until += interval
            status, _, _, tag = await asked(app, f"{path}?{asks}", key, tag)
            if status not in (200, 304):
                raise BenchError(f"the live parts of {path} answered {status}")

    async def fleet() -> None:
        async with await AsyncConnection.connect(ground.place.dsn, autocommit=True) as conn:
            for n in count():
                await arun(conn, told(n % MEASURED == 0))
                await asyncio.sleep(TOLD)

    def told(measured: bool) -> Statement[None]:
        text = sql("bench/console_told", ground.schema)
        return Statement("console_told", text, (measured,), lambda rows: None)

    began = perf_counter()
    before = ground.run("bench/active_time")[0][0]
    telling = asyncio.create_task(fleet())
    await asyncio.gather(*(tab(number) for number in range(tabs)))
    await asyncio.sleep(max(0.0, began + seconds - perf_counter()))
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)
    # Sessions tell what they did about once a second; the last second of some is not in it.
    spent = ground.run("bench/active_time")[0][0] - before
    return float(round(spent / 1000 / (perf_counter() - began) / (os.cpu_count() or 1), 4))


TABBED = (
    ("/ops", ("verdict", "incidents", "strip", "changes")),
    ("/ops/jobs", ("summary", "tabs", "rows", "fresh")),
    ("/ops/errors", ("list",)),
    ("/ops/queues", ("list",)),
    (f"/t/{SLUG}", ("states", "blame", "causes", "strip")),
)
"""What people leave open, and its live parts."""


def _at(ordered: list[float], share: float) -> float:
    return round(1000 * ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1)


CASE = Case(
    "console",
    "Server time of every page of the console beside many jobs, and what open tabs cost the database.",
    (JOBS, SAMPLES, TABS, SECONDS),
    measure,
)
