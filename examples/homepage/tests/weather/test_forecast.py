"""Forecasts: both services, each hour kept once, a grid that moves, and places that fail for themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from examples.homepage.tests.site import Site, happenings
from examples.homepage.tests.weather.places import BERLIN, NEW_YORK, SAN_JUAN, place, standing_of
from examples.upstreams.nws.server import WeatherServer
from examples.upstreams.script import Answer

GRID = "/gridpoints/OKX/41,74/forecast/hourly"


async def test_the_hours_of_two_services(site: Site, upstream: WeatherServer) -> None:
    """The one of the USA for the USA, the other for the rest; in degrees Celsius and km/h."""
    usa, berlin = await place(site, *NEW_YORK), await place(site, *BERLIN)
    job = await site.enqueue("WEATHER_REFRESH", kind="forecast")
    [span] = await site.run()
    assert (await site.job(job))["result"] == {"places": 2, "changed": 48}
    assert happenings(span) == [("weather.refreshed", {"kind": "forecast", "places": 2, "changed": 48})]
    assert dict(upstream.asked) == {"/points/40.7128,-74.006": 1, GRID: 1, "/v1/forecast": 1}
    [first, second] = [
        await site.row(
            "select temperature_c::text c, wind_kmh::text w, precipitation_percent p, summary s from weather_forecasts"
            " where place_id = %s order by starts_at limit 1",
            id,
        )
        for id in (usa, berlin)
    ]
    assert first == {"c": "10.0", "w": "15.0", "p": 40, "s": "Chance Light Rain"}
    assert second == {"c": "4.5", "w": "12.3", "p": 20, "s": "Rain"}
    assert "http" in upstream.requests[0].headers["user-agent"]


async def test_an_hour_is_kept_once_and_goes_when_it_is_over(site: Site, upstream: WeatherServer) -> None:
    """Asked again, nothing changes; what is warmer is changed; the grid is not looked up again."""
    usa = await place(site, *NEW_YORK)
    upstream.begin += timedelta(hours=2)
    changes = []
    for later, warmer in ((5, 0), (15, 0), (65, 0), (205, 3)):  # minutes after that hour has begun
        upstream.warmer = warmer
        job = await site.enqueue("WEATHER_REFRESH", kind="forecast")
        await site.run(str(upstream.begin + timedelta(minutes=later) - datetime.now(UTC)))
        changes.append((await site.job(job))["result"])
    assert changes == [
        {"places": 1, "changed": 24}, {"places": 0, "changed": 0}, {"places": 1, "changed": 0}, {"places": 1, "changed": 21},
    ]  # fmt: skip
    kept = await site.rows("select temperature_c::int as c from weather_forecasts where place_id = %s", usa)
    assert [hour["c"] for hour in kept] == [13] * 21
    assert upstream.asked["/points/40.7128,-74.006"] == 1


async def test_a_grid_that_has_moved_is_looked_up_again(site: Site, upstream: WeatherServer) -> None:
    usa = await place(site, *NEW_YORK)
    await site.conn.execute("update weather_places set grid = 'OLD/1,1'")
    job = await site.enqueue("WEATHER_REFRESH", kind="forecast")
    await site.run()
    assert (await site.job(job))["state"] == "succeeded"
    assert (await standing_of(site, usa))["grid"] == "OKX/41,74"


async def test_one_place_that_fails_stops_no_other_and_is_told(site: Site, upstream: WeatherServer) -> None:
    """503, no JSON, then well: the others are asked once, the one three times; the job tells, and ends well."""
    usa, san_juan, berlin = [await place(site, *one) for one in (NEW_YORK, SAN_JUAN, BERLIN)]
    upstream.days[GRID] = [Answer(status=503), Answer(body="garbage")]
    job = await site.enqueue("WEATHER_REFRESH", kind="forecast")
    with capture_logs() as lines:
        await site.run()
        row = await standing_of(site, usa)
        assert (row["forecast_error"], row["forecast_at"]) == ("nws: http_503", None)
        for id in (san_juan, berlin):
            assert (await standing_of(site, id))["forecast_at"] is not None
        [waiting] = await site.rows("select attempts, last_error from delayed_jobs")
        assert waiting["attempts"] == 2
        assert "1 of 3 places failed: nws: http_503" in waiting["last_error"]
        spans = await site.run(hurry=True)
    failed = [found for span in spans for found in happenings(span) if found[0] == "place.failed"]
    assert failed == [("place.failed", {"place_id": str(usa), "error": "nws: garbage"})]
    assert [line["error"] for line in lines if line["event"] == "place_failed"] == [
        "nws: http_503",
        "nws: garbage",
    ]
    assert (await site.job(job))["result"] == {"places": 1, "changed": 24}
    assert (await standing_of(site, usa))["forecast_error"] is None
    assert (upstream.asked[GRID], upstream.asked["/v1/forecast"]) == (3, 1)
    labels = {"kind": "forecast", "provider": "nws", "status": "failure"}
    assert (REGISTRY.get_sample_value("weather_places_total", labels) or 0) >= 2


async def test_a_service_that_asks_for_time_gets_it(site: Site, upstream: WeatherServer) -> None:
    """The longest of what several say; and after five attempts Slack hears of it."""
    await place(site, *BERLIN)
    await place(site, *NEW_YORK)
    upstream.days["/v1/forecast"] = [Answer(status=429, retry_after="7200"), *[Answer(status=503)] * 4]
    upstream.days[GRID] = [Answer(status=503, retry_after="60")]
    now = (await site.row("select postmill.now() as now"))["now"]
    job = await site.enqueue("WEATHER_REFRESH", kind="forecast")
    await site.run()
    [waiting] = await site.rows("select scheduled_at from delayed_jobs")
    assert 7200 <= (waiting["scheduled_at"] - now).total_seconds() < 7500
    await site.run(hurry=True)
    found = await site.job(job)
    assert (found["state"], found["attempt"]) == ("dead_letter", 5)


async def test_a_place_that_the_service_does_not_know(site: Site, upstream: WeatherServer) -> None:
    """Is noted as such, by a job that is given up in the end; the others have their weather."""
    lost, fine = await place(site, "Nowhere", "1.5", "1.5", "US"), await place(site, *NEW_YORK)
    await site.enqueue("WEATHER_REFRESH", kind="forecast")
    await site.run()
    assert (await standing_of(site, lost))["forecast_error"] == "nws: http_404"
    assert (await standing_of(site, fine))["forecast_error"] is None
