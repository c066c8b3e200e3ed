"""`WEATHER_REFRESH`: forecasts of all places each hour, and what those in the USA are warned of every 15 minutes."""

from __future__ import annotations

from typing import Any

from examples.homepage.handling import handles, schedules
from examples.homepage.job_types import JobType
from examples.homepage.outbound.services import ServiceError
from examples.homepage.outbound.several import each
from examples.homepage.resources import database
from examples.homepage.rss.telemetry import event
from examples.homepage.statements import Row, row, rows
from examples.homepage.weather import telemetry
from examples.homepage.weather.refresh import Kind, refresh
from examples.homepage.weather.sky import sky
from postmill import Context


@handles(
    JobType.WEATHER_REFRESH,
    timeout=300,
    log_fields=("kind",),
    escalation_fields=("kind",),
    action="Read forecast_error and alerts_error of weather_places; ask whether the service is up",
)
async def WeatherRefreshJobHandler(ctx: Context, kind: Kind = "forecast") -> dict[str, Any]:
    """Refreshes all places that are due; one that fails stops no other, and is tried again by the next attempt."""
    pool = ctx.resource(database)
    async with pool.connection() as conn:
        due = await rows(conn, "due_places", kind=kind)
    changed = 0

    async def one(place: Row) -> ServiceError | None:
        nonlocal changed
        status: str = "failure"
        try:
            fresh = await refresh(pool, ctx.resource(sky), place, kind)
            changed += fresh
            status = "success"
        except ServiceError as error:
            ctx.log.warning("place_failed", place=place["name"], error=str(error))
            event("place.failed", {"place_id": str(place["id"]), "error": str(error)})
            async with pool.connection() as conn:
                await row(conn, "place_failed", id=place["id"], kind=kind, error=str(error))
            return error
        finally:
            telemetry.places.labels(kind=kind, provider=place["provider"], status=status).inc()
        return None

    places = await each("places", due, one)
    event("weather.refreshed", {"kind": kind, "places": places, "changed": changed})
    return {"places": places, "changed": changed}


[WeatherForecast, SevereWeatherAlerts] = schedules(JobType.WEATHER_REFRESH, WeatherRefreshJobHandler)
