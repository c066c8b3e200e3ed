"""Two hundred captures of the worst pages, eight slots and three permits, browsers and their helpers killed among them."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import pytest

from examples.homepage.screenshots.slots import available_screenshot_slots
from examples.homepage.tests.labour import served
from examples.homepage.tests.site import Site
from examples.homepage.tests.studio import SUBMIT, Studio, capturing, kill_one, profiles, studio, utilization
from postmill import Worker, acancel, aenqueue
from tests.support.workers import until

MIXED = (
    "/good", "/late", "/tall", "/infinite-scroll", "/pop-ups", "/dialogs", "/close", "/many", "/private", "/endless", "/flood",
    "/crash", "/crash", "/busy", "/alert-loop", "/redirects", "/refresh-loop", "/download", "/status/401", "/silent",
)  # fmt: skip
ROUNDS = 10


@dataclass
class Watch:
    """The most that was seen at one moment."""

    browsers: int = 0
    permits: float = 0
    killed: Counter[str] = field(default_factory=Counter)


@pytest.mark.long
async def test_two_hundred_captures(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each round no process is left, and never were there more than three browsers, nor more than the gauge says."""
    monkeypatch.setenv("SCREENSHOT_TIMEOUT", "12")
    monkeypatch.setenv("SCREENSHOT_PATIENCE", "2")
    monkeypatch.setenv("SCREENSHOT_MAX_BYTES", "3000000")
    rng, ends = random.Random(117), Counter[str]()
    with studio(site, tmp_path, monkeypatch) as it:
        async with capturing(site, grace=5.0) as worker, watching(worker, rng) as watch:
            for number in range(ROUNDS):
                jobs = [
                    await submitted(it, f"{path}?{number}.{n}")
                    for n, path in enumerate(rng.sample(MIXED, len(MIXED)))
                ]
                await acancel(site.conn, jobs[number])
                await until(lambda jobs=jobs: all_ended(it, jobs), 600)
                # A success is committed by the job's process, which ends after that.
                await until(lambda: nothing_left(it, worker), 30)
                ends.update(await it.states(*jobs))
        assert (watch.browsers, watch.permits, ends.total()) == (3, 3, ROUNDS * len(MIXED))
        kinds = await site.rows(
            "select split_part(error_message, ':', 1) as kind, count(*) as n from postmill.dead_letter group by 1 order by 1"
        )
        told = {row["kind"]: row["n"] for row in kinds}
        print(dict(ends), told, dict(watch.killed), flush=True)
        assert {
            "page_crashed",
            "browser_lost",
            "capture_timeout",
            "navigation_timeout",
            "login_wanted",
        } <= set(told)
        assert ends["succeeded"] + ends["dead_letter"] + ends["canceled"] == ends.total()


async def submitted(it: Studio, path: str) -> UUID:
    """A job that has one attempt."""
    site_id = (await it.site.row(SUBMIT, it.pages.url + path))["id"]
    once = served()["SCREENSHOT_CAPTURE"].using(max_attempts=1)
    return (await aenqueue(it.site.conn, once.new(site_id=site_id))).id


async def all_ended(it: Studio, jobs: list[UUID]) -> bool:
    """Whether none waits or runs."""
    return not {"queued", "running", "scheduled"} & set(await it.states(*jobs))


def nothing_left(it: Studio, worker: Worker) -> bool:
    """Neither a process nor a permit."""
    return (it.left(), available_screenshot_slots(worker), utilization(worker)) == ([], 3, 0)


@asynccontextmanager
async def watching(worker: Worker, rng: random.Random) -> AsyncIterator[Watch]:
    """Looks all the time, and kills something now and then."""
    watch = Watch()

    async def look() -> None:
        while True:
            watch.browsers = max(watch.browsers, len(profiles()))
            watch.permits = max(watch.permits, utilization(worker) or 0)
            kind = rng.choice([None, "renderer", "gpu-process"]) if rng.random() < 0.03 else "-"
            if kind != "-" and kill_one(kind):
                watch.killed[kind or "browser"] += 1
            await asyncio.sleep(0.2)

    task = asyncio.create_task(look())
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
