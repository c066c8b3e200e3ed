"""What the tests of the directory share: sites, votes and clicks by HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from examples.homepage.tests.site import Row, Site

NO_PICTURES = """
    select postmill.cancel_jobs(array(select id from postmill.jobs
                                       where job_type = 'SCREENSHOT_CAPTURE' and status = 'queued'), 'system', 'test')
"""


async def submitted(site: Site, url: str = "https://good.example/", title: str = "Good") -> UUID:
    """A site that somebody has submitted. No browser goes there: what is tested is not its picture."""
    answer = await site.http.post("/good-sites", json={"url": url, "title": title})
    assert answer.status_code == 201, answer.text
    await site.rows(NO_PICTURES)
    return UUID(answer.json()["id"])


async def voted(site: Site, good: UUID, votes: int = 1) -> None:
    """So many visitors vote for a site."""
    for _ in range(votes):
        answer = await site.http.post(f"/good-sites/{good}/votes", json={"visitor": str(uuid4())})
        assert answer.json() == {"counted": True}


async def clicked(site: Site, good: UUID, *, ago: timedelta | None = None, **body: Any) -> bool:
    """A visitor who has consented clicks a link; whether it will count."""
    when = {"clicked_at": (await now(site) - ago).isoformat()} if ago else {}
    click: Row = {"site_id": str(good), "visitor": str(uuid4()), "consent": True, **when, **body}
    answer = await site.http.post("/click", json=click)
    assert answer.status_code == 202, answer.text
    counted: bool = answer.json()["counted"]
    return counted


async def now(site: Site) -> Any:
    """The time of the database."""
    return (await site.row("select postmill.now() as now"))["now"]


async def ran(site: Site, kind: str, later: str = "0 s") -> Any:
    """The result of a job that is enqueued and run so much later; it succeeds."""
    job = await site.enqueue(kind)
    await site.run(later)
    found = await site.job(job)
    assert found["state"] == "succeeded", found
    return found["result"]
