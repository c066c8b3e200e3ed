"""`postmill worker` with the settings of homepage.yaml: who is told of a page that cannot be captured, and a worker that is
killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import httpx
import pytest

from examples.homepage.screenshots.scratch import scratch
from examples.homepage.statements import FOLDER
from examples.homepage.tests.labour import HURRY
from examples.homepage.tests.site import Site
from examples.homepage.tests.studio import studio
from examples.upstreams.alerts import judges
from examples.upstreams.alerts.service import AlertService
from tests.alerts.world import serving
from tests.cli.processes import running
from tests.support.eventually import aeventually
from tests.support.ports import unused_port
from tests.support.spawner import ROOT, spawner
from tests.support.workers import until

NOWHERE = "http://good.site.invalid/page"


async def test_the_worker_of_the_homepage(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After five attempts Slack hears of the address. Killed in the middle of a capture it leaves no process, and what is left
    of files goes with a later capture."""
    spawner()  # outside of the studio, where every process is looked at
    ops, port = AlertService(judges.slack), unused_port()
    with studio(site, tmp_path / "kept", monkeypatch) as it, serving(ops):
        env = {
            "POSTMILL_SETTINGS": str(FOLDER / "homepage.yaml"), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
            "PAGERDUTY_INTEGRATION_KEY": "key", "SLACK_OPS_WEBHOOK": f"{ops.url}/services/T0/B0/x",
            "HOMEPAGE_DATABASE_URL": site.dsn, "POSTMILL_QUEUES__SCREENSHOT__POLL_INTERVAL": "1",
        }  # fmt: skip
        words = ("worker", "examples.homepage.jobs.screenshot_capture", "--port", str(port))
        with running(tmp_path, *words, dsn=site.dsn, env=env) as worker:
            _, job = await it.submit(NOWHERE)
            await until(lambda: _given_up(site, job))
            await aeventually(lambda: [taken for taken in ops.delivered if NOWHERE in taken.body["text"]])
            assert (await site.job(job))["attempt"] == 5
            await it.submit("/held/1")
            await aeventually(lambda: it.pages.asked["/held/1"])
            async with httpx.AsyncClient() as http:
                told = (await http.get(f"http://127.0.0.1:{port}/metrics")).text
            assert "\nscreenshot_concurrency_utilization 1" in told
            worker.signal(signal.SIGKILL)
            worker.ends()
            await aeventually(lambda: not it.left(), what="end of the browser")
            [left] = it.folder.glob("homepage-shot-*")
            os.utime(left, (0, 0))
            with monkeypatch.context() as here:
                here.setattr("tempfile.tempdir", str(it.folder))
                with scratch() as mine:
                    assert [*it.folder.glob("homepage-shot-*")] == [mine], "that of the killed one is gone"
                    with scratch() as another:
                        os.utime(mine, (0, 0))
                    with scratch():
                        assert mine.exists(), "it is in use"
                    assert not another.exists()


async def _given_up(site: Site, job: object) -> bool:
    await site.rows(HURRY)
    return bool((await site.job(job))["state"] == "dead_letter")
