"""What the tests of screenshot jobs share: sites of the directory, workers that capture them, what is left of browsers."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from prometheus_client import CollectorRegistry

from examples.homepage.tests.labour import served
from examples.homepage.tests.site import Site
from examples.homepage.tests.wild import browsers, short_folder, wild_pages
from examples.upstreams.wild_pages.server import WildPages
from postmill import Worker
from postmill.telemetry.metrics import CountersCollector
from tests.support.workers import working

SUBMIT = """
    insert into good_sites (url, host, title, rank) values (%s, '127.0.0.1', 'A site', 0) returning id
"""


@dataclass
class Studio:
    """`folder`: temporary files of all that captures start; `kept`: the thumbnails."""

    site: Site
    pages: WildPages
    folder: Path
    kept: Path

    async def submit(self, path: str) -> tuple[UUID, UUID]:
        """A site at the stand-in (or anywhere, by its whole address), and the job that captures it."""
        url = path if "://" in path else self.pages.url + path
        site_id: UUID = (await self.site.row(SUBMIT, url))["id"]
        return site_id, await self.site.enqueue("SCREENSHOT_CAPTURE", site_id=site_id)

    async def states(self, *jobs: UUID) -> list[str]:
        """Where jobs are."""
        return [(await self.site.job(job))["state"] for job in jobs]

    async def are(self, states: list[str], *jobs: UUID) -> bool:
        """Whether that is where they are."""
        return await self.states(*jobs) == states

    def thumbnails(self) -> list[Path]:
        """All files that are kept."""
        return list(self.kept.iterdir())

    def left(self) -> list[str]:
        """Processes of captures."""
        return browsers(self.folder)


@contextmanager
def studio(site: Site, kept: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Studio]:
    """With the stand-in; at the end no browser is left."""
    with wild_pages() as pages, short_folder() as folder:
        monkeypatch.setenv("TMPDIR", str(folder))
        monkeypatch.setenv("SCREENSHOT_FOLDER", str(kept))
        yield Studio(site, pages, folder, kept)


@asynccontextmanager
async def capturing(site: Site, *, grace: float = 1.0) -> AsyncIterator[Worker]:
    """A worker with more slots than permits."""
    handler = served()["SCREENSHOT_CAPTURE"]
    async with working(site.dsn, handler, queues={"SCREENSHOT": 8}, lease=30.0, grace=grace) as worker:
        yield worker


def utilization(worker: Worker) -> float | None:
    """As Prometheus scrapes it."""
    registry = CollectorRegistry()
    registry.register(CountersCollector(worker.counters))
    return registry.get_sample_value("screenshot_concurrency_utilization")


def chromiums(kind: str | None = None) -> list[psutil.Process]:
    """The browsers' main processes below this one, or their helpers of a kind, such as `renderer`."""
    found = []
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            words = one.cmdline()
            kinds = [word.removeprefix("--type=") for word in words if word.startswith("--type=")]
            if words and words[0].endswith("/chromium") and kinds[:1] == ([kind] if kind else []):
                found.append(one)
    return found


def profiles() -> set[str]:
    """One for each browser; the processes that it is about to become share its own."""
    found = set[str]()
    for one in chromiums():
        with suppress(psutil.Error):
            found.update(word for word in one.cmdline() if word.startswith("--user-data-dir="))
    return found


def kill_one(kind: str | None = None) -> bool:
    """SIGKILL to a browser, or to a helper of that kind; whether there was one."""
    for one in chromiums(kind):
        with suppress(psutil.Error):
            one.send_signal(signal.SIGKILL)
            return True
    return False
