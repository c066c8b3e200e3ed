"""The directory by HTTP: a site is listed once, voted for once by each visitor, and has its picture taken."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from examples.homepage.directory import web
from examples.homepage.tests.site import Site
from postmill import Registry, job

ODD = [
    {"url": "ftp://good.example/", "title": "A"}, {"url": "https://me:secret@good.example/", "title": "A"},
    {"url": "https://good.example/", "title": " "}, {"url": "https://good.example/", "title": "a\0b"},
    {"url": "https://good.example/" + "x" * 3000, "title": "A"}, {"url": "nowhere", "title": "A"},
]  # fmt: skip


@job("SCREENSHOT_CAPTURE")
async def capture(site_id: UUID) -> None: ...


async def test_a_site_is_listed_once(site: Site) -> None:
    """The same address in another spelling is the same site."""
    first = await site.http.post(
        "/good-sites", json={"url": "https://GOOD.example:443/a#b", "title": " Good "}
    )
    again = await site.http.post("/good-sites", json={"url": "https://good.example/a", "title": "Better"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    [listed] = (await site.http.get("/good-sites")).json()
    assert (listed["url"], listed["title"]) == ("https://good.example/a", "Good")
    assert 0.99 < listed["score"] <= 1
    assert (await site.row("select host from good_sites"))["host"] == "good.example"
    assert (await site.http.get(f"/good-sites/{listed['id']}")).json()["id"] == listed["id"]


@pytest.mark.parametrize("served", [True, False])
async def test_its_picture_is_taken_where_somebody_takes_pictures(
    site: Site, monkeypatch: pytest.MonkeyPatch, served: bool
) -> None:
    """The job is there when the site is, once."""
    monkeypatch.setattr(web, "handlers", lambda: Registry.collect(*([capture] if served else [])))
    body = {"url": "https://good.example/", "title": "Good"}
    made = (await site.http.post("/good-sites", json=body)).json()
    await site.http.post("/good-sites", json=body)
    jobs = await site.rows("select id, payload from postmill.jobs where job_type = 'SCREENSHOT_CAPTURE'")
    assert [(str(one["id"]), one["payload"]) for one in jobs] == (
        [(made["job_id"], {"site_id": made["id"]})] if served else []
    )
    assert (made["job_id"] is not None) == served


@pytest.mark.parametrize("body", ODD)
async def test_what_is_no_site_is_refused(site: Site, body: dict[str, str]) -> None:
    """Without a trace."""
    assert (await site.http.post("/good-sites", json=body)).status_code == 422
    assert await site.rows("select * from good_sites") == []


async def test_each_visitor_has_one_vote(site: Site) -> None:
    """A second one changes nothing; a site that is not there has none."""
    made = (await site.http.post("/good-sites", json={"url": "https://good.example/", "title": "G"})).json()
    one, two = str(uuid4()), str(uuid4())
    answers = [
        await site.http.post(f"/good-sites/{made['id']}/votes", json={"visitor": visitor})
        for visitor in (one, one, two)
    ]
    assert [answer.json()["counted"] for answer in answers] == [True, False, True]
    assert len(await site.rows("select * from good_site_votes")) == 2
    missing = await site.http.post(f"/good-sites/{uuid4()}/votes", json={"visitor": one})
    assert missing.status_code == (await site.http.get(f"/good-sites/{uuid4()}")).status_code == 404
