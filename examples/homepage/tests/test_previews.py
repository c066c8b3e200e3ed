"""Section 11: screenshot capture → image compression → upload to the CDN, and what becomes of the chain when the CDN says no."""

from __future__ import annotations

import io
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from examples.homepage.tests.labour import HURRY, served
from examples.homepage.tests.site import Row, Site
from examples.homepage.tests.studio import Studio, studio
from examples.upstreams.cdn.server import CdnServer
from examples.upstreams.script import Answer
from postmill import Client, Registry, Worker
from tests.support.workers import until, working

STEPS = """
    select job_type, attempt_count from postmill.jobs where job_type in ('THUMBNAIL_COMPRESSION', 'CDN_UPLOAD') order by 1
"""


@pytest.fixture
def cdn(monkeypatch: pytest.MonkeyPatch) -> Iterator[CdnServer]:
    """A storage zone that is in the settings."""
    server = CdnServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="cdn")
    thread.start()
    monkeypatch.setenv("CDN_STORAGE_URL", server.url)
    monkeypatch.setenv("CDN_STORAGE_KEY", server.key)
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@asynccontextmanager
async def chained(site: Site) -> AsyncIterator[Worker]:
    """A worker for the whole chain."""
    steps = Registry.collect("examples.homepage.previews.jobs")
    handlers = (served()["SCREENSHOT_CAPTURE"], *steps, *steps.resources)
    queues = {"SCREENSHOT": 3, "BULK": 4}
    async with working(site.dsn, *handlers, queues=queues, lease=30.0) as worker:
        yield worker


async def submitted(it: Studio, path: str) -> Row:
    """A site that a visitor submits."""
    answer = await it.site.http.post("/good-sites", json={"url": it.pages.url + path, "title": "A site"})
    assert answer.status_code == 201, answer.text
    made: Row = answer.json()
    assert made["job_id"] is None
    return made


async def ended(it: Studio, made: Row) -> Any:
    """The workflow once it is over; next attempts do not wait."""
    with Client(it.site.dsn) as client:

        async def over() -> bool:
            await it.site.rows(HURRY)
            return client.workflow(made["workflow_id"]).finished

        await until(over)
        return client.workflow(made["workflow_id"])


async def listed(it: Studio, made: Row) -> Row:
    """The site as visitors see it."""
    found: Row = (await it.site.http.get(f"/good-sites/{made['id']}")).json()
    return found


async def test_from_the_submission_to_the_cdn(
    site: Site, cdn: CdnServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One workflow, in the transaction of the submission. A day that is bad for once costs an attempt; a key that is refused
    for good fails the chain, and what was made for the upload is taken back, while the picture itself stays."""
    kept = tmp_path / "kept"
    with studio(site, kept, monkeypatch) as it:
        async with chained(site):
            cdn.days.append(Answer(status=503, retry_after="1"))
            made = await submitted(it, "/good")
            flow = await ended(it, made)
            assert (flow.status, flow.total, flow.succeeded) == ("succeeded", 3, 3)
            steps = [(row["job_type"], row["attempt_count"]) for row in await site.rows(STEPS)]
            assert steps == [("CDN_UPLOAD", 2), ("THUMBNAIL_COMPRESSION", 1)]
            [(name, webp)] = cdn.files.items()
            assert (await listed(it, made))["preview"] == f"{cdn.url}/{name}"
            with Image.open(io.BytesIO(webp)) as small:
                assert (small.format, small.width) == ("WEBP", 320)
            [picture] = kept.glob("*.webp")
            assert len(webp) < picture.stat().st_size
            assert list((kept / "small").iterdir()) == []

            cdn.closed = 401
            refused = await submitted(it, "/late")
            flow = await ended(it, refused)
            assert (flow.status, flow.succeeded, flow.failed) == ("failed", 2, 1)
            assert (flow.compensations, flow.compensated) == (1, 1)
            assert (await listed(it, refused))["preview"] is None
            [dead] = await site.rows("select job_type, last_error from delayed_jobs_dlq")
            assert (dead["job_type"], dead["last_error"]) == ("CDN_UPLOAD", "cdn: http_401")
            assert len(list(kept.glob("*.webp"))) == 2
            assert list((kept / "small").iterdir()) == []
    assert cdn.files == {name: webp}
