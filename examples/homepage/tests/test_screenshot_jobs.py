"""`SCREENSHOT_CAPTURE` as jobs: three at once, whatever ends them nothing is left, and what is kept of a site."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from examples.homepage.screenshots.slots import available_screenshot_slots
from examples.homepage.tests.site import Site
from examples.homepage.tests.studio import capturing, kill_one, studio, utilization
from postmill import acancel
from tests.support.workers import until


async def test_three_at_once_and_nothing_is_left_of_those_that_end_badly(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fourth waits without a lock until a browser is killed; one is cancelled, and the others are drained."""
    with studio(site, tmp_path, monkeypatch) as it:
        jobs = [(await it.submit(f"/held/{number}"))[1] for number in range(4)]

        def asked() -> int:
            return sum(path.startswith("/held/") for path in it.pages.asked)

        async with capturing(site) as worker:
            await until(lambda: asked() == 3)
            assert (available_screenshot_slots(worker), utilization(worker)) == (0, 3)
            [waiting] = await site.rows("select * from delayed_jobs where locked_at is null")
            assert (waiting["locked_by"], waiting["attempts"]) == (None, 1)
            kill_one()
            await until(lambda: asked() == 4)
            assert (available_screenshot_slots(worker), utilization(worker)) == (0, 3)
            [lost] = await site.rows("select * from delayed_jobs where attempts = 2")
            assert "browser_lost: http://127.0.0.1:" in lost["last_error"]
            running = jobs[(await it.states(*jobs)).index("running")]
            await acancel(site.conn, running)
            await until(lambda: available_screenshot_slots(worker) == 1)
            await until(lambda: it.are(["canceled"], running))
            assert utilization(worker) == 2
        assert sorted(await it.states(*jobs)) == ["canceled", "queued", "queued", "scheduled"]
        assert it.left() == []


async def test_what_is_kept_of_a_site(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thumbnail, whole; a later failure leaves it; what captures have left that were killed goes."""
    with studio(site, tmp_path, monkeypatch) as it:
        site_id, job = await it.submit("/to?url=/good")
        for name in (f"{site_id}-before.webp", f"{site_id}-x.part"):
            (tmp_path / name).write_bytes(b"x")
        async with capturing(site) as worker:
            await until(lambda: _ended(site, job))
            row = await site.row("select * from site_screenshots")
            assert (row["site_id"], row["final_url"]) == (site_id, f"{it.pages.url}/good")
            assert (row["status"], row["whole"], row["title"]) == (200, True, "A page")
            [kept] = it.thumbnails()
            assert (kept.name, kept.stat().st_size) == (row["file"], row["bytes"])
            with Image.open(kept) as picture:
                assert (picture.format, picture.size) == ("WEBP", (row["width"], row["height"]))
            await site.rows("update good_sites set url = %s", f"{it.pages.url}/status/429")
            job = await site.enqueue("SCREENSHOT_CAPTURE", site_id=site_id)
            await until(lambda: _ended(site, job))
            [again] = await site.rows(
                "select *, scheduled_at > postmill.now() + '7000 s' as late from delayed_jobs"
            )
            assert (again["id"], again["late"]) == (job, True), "the server has asked for two hours"
            assert await site.row("select * from site_screenshots") == row
            assert it.thumbnails() == [kept]
            assert utilization(worker) == 0
            gone = await site.enqueue("SCREENSHOT_CAPTURE", site_id=job)
            await until(lambda: _ended(site, gone))
            assert (await site.job(gone))["state"] == "succeeded", "its site has been taken away"


async def _ended(site: Site, job: object) -> bool:
    return (await site.job(job))["state"] not in ("queued", "running")
