"""What people do on a day, and what comes of it: job types that run on demand, and something to do for scheduled ones."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import psycopg

from examples.homepage.demo.demand import DEMAND, Asking
from examples.homepage.job_types import JobType
from examples.homepage.tests.directory import clicked, voted
from examples.homepage.tests.week.scene import Scene

ENDING = """
    insert into marketplace_listings (seller_id, title, expires_at)
    select id, 'A boat', postmill.now() + interval '4 days' from marketplace_members where name = 'Ada of village'
"""
ENDED = """
    select l.status, date_trunc('minute', l.expired_at) as ended, date_trunc('minute', r.created_at) as reminded
      from marketplace_listings l join listing_reminders r on r.listing_id = l.id where l.title = 'A boat'
"""
ASKED = "select job_type, status, last_error from postmill.jobs where job_type = any(%s)"
SITES = """
    select status, clicks, last_error, last_checked_at, width from good_sites s
      left join (select site_id, sum(clicks) as clicks from click_rollup group by site_id) c on c.site_id = s.id
      left join (select site_id, width from site_screenshots) p on p.site_id = s.id
"""
WEATHER = "select date_trunc('minute', forecast_at) as forecast, date_trunc('minute', alerts_at) as alerts from weather_places"


async def a_day(scene: Scene, number: int) -> None:
    """A site is submitted, voted for and clicked; somebody asks about a listing, and its seller uploads a picture."""
    site = scene.site
    page = f"{scene.told['DEMO_PAGES']}/good?day={number}"
    answer = await site.http.post("/good-sites", json={"url": page, "title": f"Site of day {number}"})
    assert answer.status_code == 201, answer.text
    await voted(site, answer.json()["id"], number)
    assert await clicked(site, answer.json()["id"])
    with psycopg.connect(site.dsn, autocommit=True) as conn:
        for kind in (JobType.MESSAGE_RELAY, JobType.IMAGE_PROCESSING):
            await site.enqueue(kind, **DEMAND[kind](Asking(conn, "village", number, scene.told)))
    if number == 1:
        await site.rows(ENDING)


async def what_came_of_it(scene: Scene, days: list[datetime], end: datetime) -> None:
    """Each request was served; a listing of four days has ended at night, its seller was reminded; sites are well."""
    site = scene.site
    jobs = await site.rows(ASKED, list(DEMAND))
    faults = {
        (job["job_type"], job["status"], job["last_error"]) for job in jobs if job["status"] != "succeeded"
    }
    assert not faults, faults
    # The reminder is one more mail.
    wanted = dict.fromkeys(DEMAND, len(days)) | {JobType.MESSAGE_RELAY: len(days) + 1}
    made = Counter(job["job_type"] for job in jobs)
    assert made == wanted, made
    night = days[0].replace(hour=2)
    boat = await site.row(ENDED)
    assert boat == {"status": "expired", "reminded": night.replace(day=3), "ended": night.replace(day=6)}, (
        boat
    )
    sites = await site.rows(SITES)
    assert [(one["status"], one["clicks"], one["last_error"]) for one in sites] == [("live", 1, None)] * len(
        days
    )
    assert all(one["width"] for one in sites), "each has its picture"
    assert sum(one["last_checked_at"] is not None for one in sites) == len(days) - 1, (
        "all that were there on Sunday"
    )
    assert await site.rows(WEATHER) == [{"forecast": end, "alerts": end}]
