"""Places of the tests."""

from __future__ import annotations

from uuid import UUID

from examples.homepage.tests.site import Row, Site

NEW_YORK = ("New York", "40.7128", "-74.006", "US")
SAN_JUAN = ("San Juan", "18.4663", "-66.1057", "PR")
BERLIN = ("Berlin", "52.52", "13.405", "DE")
MANHATTAN = "40.7128,-74.006"


async def place(site: Site, name: str, latitude: str, longitude: str, country: str) -> UUID:
    """A place, new."""
    row = await site.row(
        "insert into weather_places (name, latitude, longitude, country) values (%s, %s, %s, %s) returning id",
        name, latitude, longitude, country,
    )  # fmt: skip
    found: UUID = row["id"]
    return found


async def standing_of(site: Site, place_id: UUID) -> Row:
    """The row of a place."""
    return await site.row("select * from weather_places where id = %s", place_id)
