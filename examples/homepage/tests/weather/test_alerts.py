"""Warnings: every 15 minutes, in the USA; each kept once, and gone when it is over, also while nobody can be asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from examples.homepage.tests.site import Site
from examples.homepage.tests.weather.places import BERLIN, MANHATTAN, NEW_YORK, SAN_JUAN, place, standing_of
from examples.upstreams.nws.server import WeatherServer, alert
from examples.upstreams.script import Answer


def soon(minutes: int) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=minutes)


async def warned(site: Site, later: str) -> list[str]:
    """What is shown so much later."""
    await site.conn.execute(f"set postmill.clock_offset = '{later}'".encode())
    found = await site.rows("select headline from weather_warnings order by headline")
    await site.conn.execute("reset postmill.clock_offset")
    return [row["headline"] for row in found]


async def refresh(site: Site, later: str = "0 s") -> object:
    job = await site.enqueue("WEATHER_REFRESH", kind="alerts")
    await site.run(later)
    return (await site.job(job))["result"]


async def test_alerts_come_change_and_go(site: Site, upstream: WeatherServer) -> None:
    await place(site, *BERLIN)
    usa = await place(site, *NEW_YORK)
    long = soon(600)
    upstream.alerts[MANHATTAN] = [
        alert(1, until=long, headline="one"),
        alert(1, until=long, headline="one"),
        alert(2, until=soon(30), headline="two", ends=soon(120).isoformat()),
        alert(3, until=soon(-5), headline="over"),
        alert(4, until=long, headline="exercise", status="Test"),
        alert(5, until=long, headline="called off", messageType="Cancel"),
    ]
    assert await refresh(site) == {"places": 1, "changed": 2}
    assert dict(upstream.asked) == {"/alerts/active": 1}, "Open-Meteo has none"
    assert await warned(site, "100 min") == ["one", "two"], "two ends when its weather does"
    assert await refresh(site, "15 min") == {"places": 1, "changed": 0}
    upstream.alerts[MANHATTAN] = [
        alert(1, until=long, headline="one, stronger"),
        alert(6, until=long, headline="six"),
    ]
    assert await refresh(site, "30 min") == {"places": 1, "changed": 2}
    assert await warned(site, "30 min") == ["one, stronger", "six"]
    assert (await standing_of(site, usa))["alerts_at"] is not None


async def test_what_has_expired_is_not_shown_while_the_service_is_down(
    site: Site, upstream: WeatherServer
) -> None:
    """And another place's are refreshed all the same."""
    usa, other = await place(site, *NEW_YORK), await place(site, *SAN_JUAN)
    upstream.alerts[MANHATTAN] = [
        alert(1, until=soon(20), headline="short"),
        alert(2, until=soon(90), headline="long"),
    ]
    await refresh(site)
    upstream.days["/alerts/active"] = [Answer(status=503)]
    await refresh(site, "15 min")
    errors = [(await standing_of(site, id))["alerts_error"] for id in (usa, other)]
    assert sorted(errors, key=str) == [None, "nws: http_503"]
    assert await warned(site, "15 min") == ["long", "short"]
    assert await warned(site, "25 min") == ["long"]


async def test_what_no_database_can_hold_keeps_no_other_place(site: Site, upstream: WeatherServer) -> None:
    usa, other = await place(site, *NEW_YORK), await place(site, *SAN_JUAN)
    bad = alert(1, until=soon(60), headline="a\0b")
    upstream.alerts[MANHATTAN] = [bad]
    await refresh(site)
    assert (await standing_of(site, usa))["alerts_error"] == "nws: garbage"
    assert (await standing_of(site, other))["alerts_at"] is not None


async def test_an_unknown_kind_is_refused(site: Site) -> None:
    body = {"job_type": "WEATHER_REFRESH", "payload": {"kind": "tides"}}
    answer = await site.http.post("/admin/api/jobs/enqueue", json=body)
    assert 400 <= answer.status_code < 500
