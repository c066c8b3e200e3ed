"""Each of the four events becomes its jobs within two seconds, once within the window, and in its own tenant only."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from examples.photos.tests.world import World
from postmill import Worker, apublish
from tests.support.api import problem
from tests.support.databases import Database

pytestmark = pytest.mark.asyncio(loop_scope="module")

ID = str(uuid4())
FOLDER = {"provider_id": ID, "folder_path": "/"}

EVENTS: list[tuple[str, dict[str, Any], dict[str, dict[str, str]]]] = [
    ("provider.folder.updated", FOLDER, {"sync-dropbox": {"provider_id": ID, "path_prefix": "/"}}),
    (
        "provider.connection.changed",
        FOLDER | {"connected": True},
        {"sync-dropbox": {"provider_id": ID, "path_prefix": "/"}},
    ),
    (
        "list.created",
        {"list_id": ID, "name": "harbour"},
        {"train-keyword-models": {"model": "siglip", "list_id": ID}},
    ),
    (
        "images.ingest.completed",
        {"ingest_id": ID, "provider_id": ID, "pictures": 7},
        {
            "recompute-zeroshot-tags": {"ingest_id": ID},
            "recompute-trained-tags": {"model": "siglip", "ingest_id": ID},
        },
    ),
]


async def publish(client: httpx.AsyncClient, name: str, context: dict[str, Any]) -> list[dict[str, Any]]:
    """What came of an event at each trigger."""
    answer = await World.ok(client.post("/events", json={"name": name, "context": context}), 201)
    found: list[dict[str, Any]] = answer["deliveries"]
    return found


@pytest.mark.parametrize(("name", "context", "wanted"), EVENTS, ids=[name for name, _, _ in EVENTS])
async def test_an_event_is_its_jobs(
    world: World, worker: Worker, name: str, context: dict[str, Any], wanted: dict[str, dict[str, str]]
) -> None:
    admin, stranger = await world.admin("bcg"), await world.admin("lakeside")
    deliveries = await publish(admin, name, context)
    assert [one["outcome"] for one in deliveries] == ["enqueued"] * len(wanted)
    for delivery in deliveries:
        job = await world.becomes(admin, delivery["job_id"], "succeeded")
        assert job["payload"] == wanted[job["definition_key"]]
        assert (job["source"], job["tenant_id"]) == ("event", world.tenants["bcg"])
        waited = datetime.fromisoformat(job["started_at"]) - datetime.fromisoformat(job["queued_at"])
        assert waited.total_seconds() < 2
        problem(await stranger.get(f"/jobs/{job['id']}"), 404, "not-found")
    # Once more within the window: nothing. In the other tenant: its own.
    assert [one["outcome"] for one in await publish(admin, name, context)] == ["duplicate"] * len(wanted)
    for delivery in await publish(stranger, name, context):
        job = await world.ok(stranger.get(f"/jobs/{delivery['job_id']}"))
        assert job["tenant_id"] == world.tenants["lakeside"]
    foreign = {"name": name, "context": context, "tenant_id": world.tenants["lakeside"]}
    problem(await admin.post("/events", json=foreign), 404, "not-found")


@pytest.mark.parametrize(
    ("name", "window"), [("provider.folder.updated", 120), ("provider.connection.changed", 300)]
)
async def test_a_window_is_over_when_it_says(
    world: World, world_database: Database, name: str, window: int
) -> None:
    """120 s as the seed's trigger has it, 300 s where a trigger names none."""
    admin = await world.admin(f"window-{window}")
    tenant = world.tenants[f"window-{window}"]
    outcomes = []
    for later in (0, window - 5, window + 5):
        shifted = make_conninfo(world_database.dsn, options=f"-c postmill.clock_offset={later}s")
        async with await AsyncConnection.connect(shifted, autocommit=True) as conn:
            [delivery] = (await apublish(conn, name, FOLDER, tenant=tenant)).deliveries
            outcomes.append(delivery.outcome)
    assert outcomes == ["enqueued", "duplicate", "enqueued"]
    other = await publish(admin, name, FOLDER | {"folder_path": "/elsewhere"})
    assert [one["outcome"] for one in other] == ["enqueued"], "another payload is another job"


async def test_an_event_that_does_not_fit_says_why(world: World) -> None:
    admin = await world.admin("bcg")
    [delivery] = await publish(admin, "provider.folder.updated", {"provider_id": ID})
    assert (delivery["outcome"], delivery["job_id"]) == ("failed", None)
    assert "folder_path" in delivery["detail"]
    [delivery] = await publish(admin, "provider.folder.updated", {"provider_id": "x", "folder_path": "/"})
    assert delivery["outcome"] == "failed"
    assert "uuid" in delivery["detail"]
