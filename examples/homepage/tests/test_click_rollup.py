"""P14: clicks count with consent only, once, for their own hour, and are gone after 90 days, never before they are counted."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import psycopg.errors
import pytest
from psycopg import AsyncConnection

from examples.homepage.clicks import rollup
from examples.homepage.tests.directory import clicked, ran, submitted
from examples.homepage.tests.site import Site

OLD = "insert into clicks (site_id, visitor, consent, clicked_at) select %s, gen_random_uuid(), true, postmill.now() - %s"


async def total(site: Site) -> tuple[int, int, int]:
    """Clicks that are kept, hours that have counts, and clicks that are counted."""
    found = await site.row(
        "select (select count(*) from clicks) as kept, count(*) as hours, coalesce(sum(clicks), 0)::int as counted"
        "  from click_rollup"
    )
    return found["kept"], found["hours"], found["counted"]


async def test_only_with_consent(site: Site) -> None:
    """Nothing is kept of a click without it, by no way; and consent can be withdrawn, before and after the count."""
    good = await submitted(site)
    assert not await clicked(site, good, consent=False)
    assert not await clicked(site, uuid4())
    body = {"site_id": str(good), "consent": True}
    assert (await site.http.post("/click", json=body)).status_code == 422
    assert (await site.http.post("/click", json={"site_id": str(good)})).json() == {"counted": False}
    with pytest.raises(psycopg.errors.CheckViolation):
        await site.rows(
            "insert into clicks (site_id, visitor, consent) values (%s, %s, false)", good, uuid4()
        )
    assert await total(site) == (0, 0, 0)
    me = str(uuid4())
    assert await clicked(site, good, visitor=me)
    assert await ran(site, "CLICK_ROLLUP") == {"counted": 1, "deleted": 0}
    assert await clicked(site, good, visitor=me)
    assert await clicked(site, good)
    assert (await site.http.delete(f"/clicks/{me}")).status_code == 204
    assert await ran(site, "CLICK_ROLLUP") == {"counted": 1, "deleted": 0}
    assert (await total(site))[::2] == (1, 2)


async def test_twice_is_as_once_and_late_ones_count(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """In batches smaller than what there is; an hour that has been counted before gets its late clicks."""
    monkeypatch.setattr(rollup, "BATCH", 2)
    good, other = await submitted(site), await submitted(site, "https://other.example/")
    for _ in range(5):
        assert await clicked(site, good, ago=timedelta(hours=5))
    assert await clicked(site, other)
    assert await ran(site, "CLICK_ROLLUP") == {"counted": 6, "deleted": 0}
    assert await ran(site, "CLICK_ROLLUP") == {"counted": 0, "deleted": 0}
    assert await clicked(site, good, ago=timedelta(hours=5))
    assert await clicked(site, good, ago=timedelta(hours=-1)), "a clock that is fast"
    assert not await clicked(site, good, ago=timedelta(days=2))
    assert await ran(site, "CLICK_ROLLUP") == {"counted": 2, "deleted": 0}
    found = await site.rows(
        "select clicks, hour = date_trunc('hour', hour, 'UTC') as whole from click_rollup order by site_id = %s, hour",
        good,
    )
    assert found == [{"clicks": clicks, "whole": True} for clicks in (1, 6, 1)]


async def test_what_is_interrupted_is_counted_once(site: Site) -> None:
    """A batch whose process dies leaves its clicks to the next; one beside it takes others."""
    good, other = await submitted(site), await submitted(site, "https://other.example/")
    assert await clicked(site, good)
    async with await AsyncConnection.connect(site.dsn) as dying:
        assert await rollup.roll_up(dying) == 1
        assert await clicked(site, other)
        assert await rollup.roll_up(site.conn) == 1
        await dying.rollback()
    assert (await total(site))[2] == 1
    assert await ran(site, "CLICK_ROLLUP") == {"counted": 1, "deleted": 0}
    assert (await total(site))[2] == 2


async def test_ninety_days(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old ones are counted first, however old they are; deleted by batches; the count stays."""
    monkeypatch.setattr(rollup, "BATCH", 2)
    good = await submitted(site)
    for days in (91, 91, 91, 100, 89):
        await site.rows(OLD, good, timedelta(days=days))
    assert await rollup.delete_old(site.conn) == 0, "nothing that is not counted"
    assert await ran(site, "CLICK_ROLLUP") == {"counted": 5, "deleted": 4}
    assert (await total(site))[::2] == (1, 5)
    assert await ran(site, "CLICK_ROLLUP", "25 h") == {"counted": 0, "deleted": 1}
    assert (await total(site))[::2] == (0, 5)
