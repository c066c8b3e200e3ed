"""The nightly sync: 2 o'clock in New York whatever the clocks do there, and what becomes of the seed's own contradiction."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from examples.photos import bodies
from examples.photos.tests.world import World
from examples.photos.tests.world import world as opened_world
from postmill.bind import adrive
from postmill.operate.triggers import preview
from tests.support.databases import Database
from tests.triggers.support import upkeep

NIGHTLY = bodies.triggers()[1]["label"]


async def nightly(world: World) -> dict[str, Any]:
    """The trigger of the tenant bcg."""
    listed = (await world.ok((await world.admin("bcg")).get("/jobs/triggers")))["items"]
    found: dict[str, Any] = next(item for item in listed if item["label"] == NIGHTLY)
    return found


def shifted(dsn: str, moment: datetime) -> str:
    """The database's address for a session whose clock shows this moment."""
    seconds = (moment - datetime.now(UTC)).total_seconds()
    return make_conninfo(dsn, options=f"-c postmill.clock_offset={seconds:.0f}s")


@pytest.mark.parametrize(
    ("before", "due"),
    [
        # There is no 2 o'clock on 14 March 2027: it runs at the end of the gap, at 3 o'clock summer time.
        ("2027-03-12T12:00Z", ["03-13T07:00Z", "03-14T07:00Z", "03-15T06:00Z", "03-16T06:00Z"]),
        # The hour from 1 to 2 comes twice on 7 November 2027; 2 o'clock comes once, in winter time.
        ("2027-11-05T12:00Z", ["11-06T06:00Z", "11-07T07:00Z", "11-08T07:00Z", "11-09T07:00Z"]),
        ("2027-07-01T00:00Z", ["07-01T06:00Z", "07-02T06:00Z", "07-03T06:00Z", "07-04T06:00Z"]),
    ],
    ids=["spring", "autumn", "summer"],
)
async def test_two_in_the_night_in_new_york(
    database: Database, tmp_path: Path, before: str, due: list[str]
) -> None:
    async with opened_world(database, tmp_path) as world:
        await world.admin("bcg")
        dsn = shifted(database.dsn, datetime.fromisoformat(before))
        async with await AsyncConnection.connect(dsn, autocommit=True) as conn:
            flow = preview(bodies.triggers()[1], 4, tenant=UUID(world.tenants["bcg"]))
            runs = (await adrive(conn, flow)).next_runs
        assert [f"{run.due:%m-%dT%H:%MZ}" for run in runs] == due
        local = {f"{run.local:%H:%M}" for run in runs}
        assert local == ({"02:00", "03:00"} if "03-14" in str(due) else {"02:00"})


async def test_the_nightly_schedule_names_no_provider(database: Database, tmp_path: Path) -> None:
    """The seed's schedule leaves out what the seed's definition asks for: the tick fails and says so, until the schema of
    the definition lets it be; then the job is one of all providers."""
    async with opened_world(database, tmp_path) as world:
        admin, trigger = await world.admin("bcg"), await nightly(world)
        assert trigger["is_enabled"]
        first = datetime.fromisoformat(trigger["next_run_at"])
        offset = f"{(first - datetime.now(UTC)).total_seconds() + 1:.0f} s"
        async with upkeep(database.dsn, offset) as rounds:
            await rounds.schedule()
        ticks = (await world.ok(admin.get(f"/jobs/triggers/{trigger['id']}/ticks")))["items"]
        assert [(tick["outcome"], tick["job_id"]) for tick in ticks] == [("failed", None)]
        assert "provider_id" in ticks[0]["detail"]
        assert "provider_id" in (await nightly(world))["error"]

        definition = world.definitions["sync-dropbox"]
        change = bodies.for_nightly_syncs(bodies.definitions()[0])
        await world.ok(world.root.patch(f"/admin/jobs/definitions/{definition['id']}", json=change))
        tomorrow = f"{(first + timedelta(days=1) - datetime.now(UTC)).total_seconds() + 1:.0f} s"
        async with upkeep(database.dsn, tomorrow) as rounds:
            await rounds.schedule()
        [tick, _] = (await world.ok(admin.get(f"/jobs/triggers/{trigger['id']}/ticks")))["items"]
        assert tick["outcome"] == "enqueued"
        job = await world.ok(admin.get(f"/jobs/{tick['job_id']}"))
        assert (job["source"], job["payload"]) == ("schedule", {"path_prefix": "/"})
        assert (await nightly(world))["error"] is None
