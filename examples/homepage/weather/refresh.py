"""The weather of one place: asked for, and kept in one statement."""

from __future__ import annotations

from typing import Any, Literal

from psycopg.types.json import Jsonb

from examples.homepage.outbound.services import ServiceError, kept
from examples.homepage.resources import Pool
from examples.homepage.statements import Row, row
from examples.homepage.weather.sky import Sky

Kind = Literal["forecast", "alerts"]


async def refresh(pool: Pool, sky: Sky, place: Row, kind: Kind) -> int:
    """How many hours or alerts of a place are new or have changed. Raises ServiceError."""
    if kind == "alerts":
        found = await sky.nws.alerts(place["latitude"], place["longitude"])
        return await _keep(pool, place, "place_alerts", alerts=Jsonb(found))
    return await _keep(pool, place, "place_forecast", hours=Jsonb(await _hours(pool, sky, place)))


async def _hours(pool: Pool, sky: Sky, place: Row) -> list[dict[str, Any]]:
    if place["provider"] != "nws":
        return await sky.open_meteo.hours(place["latitude"], place["longitude"])
    grid = place["grid"]
    if grid is not None:
        try:
            return await sky.nws.hours(grid)
        except ServiceError as error:
            # Offices move their grids now and then.
            if error.status != 404:
                raise
    grid = await sky.nws.grid(place["latitude"], place["longitude"])
    async with pool.connection() as conn:
        await row(conn, "place_grid", id=place["id"], grid=grid)
    return await sky.nws.hours(grid)


async def _keep(pool: Pool, place: Row, statement: str, **values: Any) -> int:
    async with pool.connection() as conn:
        with kept(place["provider"]):
            told = await row(conn, statement, id=place["id"], **values)
    return 0 if told is None else int(told["changed"])
