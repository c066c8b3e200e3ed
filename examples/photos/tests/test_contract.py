"""The seed's API contract to the letter: definitions, triggers, jobs; who may do what; two tenants that never see each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from examples.photos import bodies
from examples.photos.tests.world import ARGV, PROVIDER, World
from postmill.domain.access import Role
from tests.support.api import problem, unknown_id

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Seed 3, API contract, word for word.
CREATE: dict[str, Any] = {
    "key": "sync-dropbox",
    "description": "Sync provider updates for tenant",
    "arg_schema": {
        "type": "object",
        "properties": {
            "provider_id": {"type": "string", "format": "uuid"},
            "path_prefix": {"type": "string"},
        },
        "required": ["provider_id"],
        "additionalProperties": False,
    },
    "timeout_seconds": 3600,
    "max_attempts": 3,
}
EVENT = {
    "label": "Resync on folder change",
    "trigger_type": "event",
    "event_name": "provider.folder.updated",
    "definition_key": "sync-dropbox",
    "payload_template": {"provider_id": "{{event.provider_id}}", "path_prefix": "{{event.folder_path}}"},
    "dedupe_window_seconds": 120,
}
SCHEDULE = {
    "label": "Nightly provider sync",
    "trigger_type": "schedule",
    "cron_expr": "0 2 * * *",
    "timezone": "America/New_York",
    "definition_key": "sync-dropbox",
    "payload_template": {"path_prefix": "/"},
}
ENQUEUE = {
    "definition_key": "recompute-trained-tags",
    "payload": {"model": "siglip"},
    "priority": 100,
    "scheduled_for": "2026-02-16T10:30:00Z",
    "dedupe_key": "tenant:bcg:training:daily",
}
ANSWER = {"id", "tenant_id", "status", "definition_key", "queued_at"}
STATUSES = {"queued", "running", "succeeded", "failed", "canceled", "dead_letter"}


async def test_the_bodies_of_the_application_are_the_seeds(world: World) -> None:
    sync = bodies.definitions()[0]
    assert {name: sync[name] for name in CREATE} == CREATE
    assert bodies.triggers()[:2] == [EVENT, SCHEDULE]
    assert {body["event_name"] for body in bodies.triggers() if "event_name" in body} == {
        "provider.folder.updated", "provider.connection.changed", "list.created", "images.ingest.completed",
    }  # fmt: skip
    for body in bodies.definitions():
        assert body["argv_template"][:4] == [part.replace("{key}", body["key"]) for part in ARGV]
        assert (body["timeout_seconds"], body["max_attempts"]) == (3600, 3)


async def test_definitions_are_the_super_admins(world: World) -> None:
    path = "/admin/jobs/definitions"
    body = CREATE | {"key": "sync-dropbox-anew"}
    made = await world.ok(world.root.post(path, json=body), 201)
    assert {name: made[name] for name in body} == body
    assert made["kind"] == "command"
    assert made["argv_template"] == ["zoltag", "sync-dropbox-anew", "--tenant-id", "{tenant_id}"]
    one = f"{path}/{made['id']}"
    changed = await world.ok(world.root.patch(one, json={"description": "Sync", "is_active": False}))
    assert (changed["description"], changed["is_active"], changed["version"]) == ("Sync", False, 2)
    keys = {item["key"] for item in (await world.ok(world.root.get(path)))["items"]}
    assert {body["key"] for body in bodies.definitions()} <= keys
    admin = await world.admin("bcg")
    problem(await admin.post(path, json=body), 403, "forbidden")
    problem(await admin.patch(one, json={"max_attempts": 9}), 403, "forbidden")
    assert await world.ok(admin.get(path)), "which commands there are, everybody may see"
    bare = await world.ok(world.root.post(path, json={"key": "bare"}), 201)
    assert bare["max_attempts"] == 3


async def test_triggers_are_the_tenants(world: World) -> None:
    admin, stranger = await world.admin("bcg"), await world.admin("lakeside")
    listed = (await world.ok(admin.get("/jobs/triggers")))["items"]
    assert len(listed) == len(bodies.triggers())
    by_label = {item["label"]: item for item in listed}
    resync, nightly = by_label[EVENT["label"]], by_label[SCHEDULE["label"]]
    assert {name: resync[name] for name in EVENT} == EVENT
    assert {name: nightly[name] for name in SCHEDULE} == SCHEDULE
    assert nightly["dedupe_window_seconds"] == 300, "the seed's default"
    assert by_label["Learn from a new list"]["dedupe_window_seconds"] == 300
    one = f"/jobs/triggers/{resync['id']}"
    assert (await world.ok(admin.patch(one, json={"is_enabled": False})))["is_enabled"] is False
    assert (await world.ok(admin.patch(one, json={"is_enabled": True})))["is_enabled"] is True
    for answer in (
        await stranger.get(one),
        await stranger.patch(one, json={"is_enabled": False}),
        await stranger.delete(one),
        await stranger.post(f"{one}/run"),
    ):
        problem(answer, 404, "not-found")
    spare = await world.ok(admin.post("/jobs/triggers", json=EVENT | {"label": "spare"}), 201)
    assert (await admin.delete(f"/jobs/triggers/{spare['id']}")).status_code == 204
    bare = {name: value for name, value in SCHEDULE.items() if name != "timezone"}
    own = await world.ok(admin.post("/jobs/triggers/preview", json=bare))
    assert {run["local"][11:16] for run in own["next_runs"]} == {"02:00"}, "without one it is the tenant's"
    assert own["next_runs"][0]["due"] == nightly["next_run_at"]
    viewer = await world.api.client(Role.VIEWER, "bcg-spare")
    problem(await viewer.post("/jobs/triggers", json=EVENT), 403, "forbidden")


async def test_the_manual_enqueue(world: World) -> None:
    admin, stranger = await world.admin("bcg"), await world.admin("lakeside")
    answer = await admin.post("/jobs", json=ENQUEUE)
    assert answer.status_code == 201
    made = answer.json()
    assert made.keys() == ANSWER
    assert made["tenant_id"] == world.tenants["bcg"]
    assert (made["status"], made["definition_key"]) == ("queued", "recompute-trained-tags")
    again = await world.ok(admin.post("/jobs", json=ENQUEUE))
    assert again["id"] == made["id"], "one job with this dedupe key waits"
    theirs = await world.ok(stranger.post("/jobs", json=ENQUEUE), 201)
    assert theirs["id"] != made["id"]
    job = await world.ok(admin.get(f"/jobs/{made['id']}"))
    assert (job["source"], job["priority"], job["max_attempts"], job["attempt_count"]) == (
        "manual",
        100,
        3,
        0,
    )
    assert (job["payload"], job["dedupe_key"]) == (ENQUEUE["payload"], ENQUEUE["dedupe_key"])
    canceled = await world.ok(admin.post(f"/jobs/{made['id']}/cancel"))
    assert canceled["status"] == "canceled"
    anew = await world.ok(admin.post(f"/jobs/{made['id']}/retry"), 201)
    assert anew["replayed_from"] == made["id"]
    await world.ok(admin.post(f"/jobs/{anew['id']}/cancel"))
    await world.ok(stranger.post(f"/jobs/{theirs['id']}/cancel"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"definition_key": "rm", "payload": {}}, "rm"),
        ({"definition_key": "sync-dropbox", "payload": {}}, "provider_id"),
        ({"definition_key": "sync-dropbox", "payload": {"provider_id": "x"}}, "provider_id"),
        ({"definition_key": "sync-dropbox", "payload": {"provider_id": PROVIDER, "shell": "rm"}}, "shell"),
        (
            {
                "definition_key": "sync-dropbox",
                "payload": {"provider_id": PROVIDER, "path_prefix": "--delete"},
            },
            "path_prefix",
        ),
        ({"definition_key": "recompute-trained-tags", "payload": {"model": "Not A Name"}}, "model"),
    ],
)
async def test_nothing_off_the_allow_list_gets_in(world: World, body: dict[str, Any], said: str) -> None:
    answer = await (await world.admin("bcg")).post("/jobs", json=body)
    assert answer.status_code in (404, 422), answer.text
    assert said in answer.text


async def test_lists_and_the_summary_are_each_tenants_own(world: World) -> None:
    admin, stranger = await world.admin("summary"), await world.admin("other-summary")
    body = {"definition_key": "train-keyword-models", "payload": {"model": "siglip"}}
    empty = await world.ok(admin.get("/jobs/summary"))
    assert (empty["oldest_queued_age_seconds"], empty["running_count"]) == (None, 0)
    ids = [(await world.ok(admin.post("/jobs", json=body), 201))["id"] for _ in range(5)]
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    waiting = await world.ok(admin.post("/jobs", json=body | {"scheduled_for": later}), 201)
    assert waiting["status"] == "scheduled"
    await world.ok(admin.post(f"/jobs/{ids[0]}/cancel"))
    found = await world.ok(admin.get("/jobs/summary"))
    assert found["counts_by_status"].keys() >= STATUSES
    counts = {state: count for state, count in found["counts_by_status"].items() if count}
    assert counts == {"queued": 4, "scheduled": 1, "canceled": 1}
    assert 0 <= found["oldest_queued_age_seconds"] < 60

    async def listed(**params: Any) -> list[str]:
        return [item["id"] for item in (await world.ok(admin.get("/jobs", params=params)))["items"]]

    assert await listed(status="queued") == ids[:0:-1]
    assert await listed(status="queued", limit=2, offset=1) == ids[3:1:-1]
    assert await listed(source="event") == []
    assert len(await listed(source="manual")) == 6
    job = await world.ok(admin.get(f"/jobs/{ids[2]}"))
    assert await listed(created_after=job["queued_at"], status="queued") == ids[:2:-1]
    assert await listed(created_before=job["queued_at"], status="queued") == [ids[1]]

    assert (await world.ok(stranger.get("/jobs")))["items"] == []
    assert not any((await world.ok(stranger.get("/jobs/summary")))["counts_by_status"].values())
    for answer in (
        await stranger.get(f"/jobs/{ids[1]}"),
        await stranger.get(f"/jobs/{ids[1]}/attempts"),
        await stranger.post(f"/jobs/{ids[1]}/cancel"),
        await stranger.post(f"/jobs/{ids[1]}/retry"),
        await stranger.get(f"/jobs/{unknown_id()}"),
    ):
        problem(answer, 404, "not-found")
    problem(await stranger.get("/jobs", params={"tenant_id": "nonsense"}), 422, "invalid-request")
    foreign = await world.ok(stranger.get("/jobs", params={"tenant_id": world.tenants["summary"]}))
    assert foreign["items"] == []
    everything = await world.ok(
        world.root.get("/jobs/summary", params={"tenant_id": world.tenants["summary"]})
    )
    assert everything["counts_by_status"]["queued"] == 4, "the super admin's view is across tenants"
    for id in (*ids[1:], waiting["id"]):
        await world.ok(admin.post(f"/jobs/{id}/cancel"))


async def test_workers_over_http(world: World) -> None:
    """The worker-facing endpoints: claim, heartbeat, complete, fail; of one tenant, by a key that may nothing else."""
    body = {"key": "describe-picture", "kind": "http", "queue": "gpu", "max_attempts": 1}
    await world.ok(world.root.post("/admin/jobs/definitions", json=body), 201)
    admin = await world.admin("bcg")
    stranger = await world.admin("lakeside")
    ids = [
        (await world.ok(admin.post("/jobs", json={"definition_key": "describe-picture"}), 201))["id"]
        for _ in range(2)
    ]
    await world.ok(stranger.post("/jobs", json={"definition_key": "describe-picture"}), 201)
    key = await world.ok(
        world.root.post("/keys", json={"name": "gpu", "role": "worker", "tenant": "bcg"}), 201
    )
    admin_key, headers = admin.headers["Authorization"], {"Authorization": f"Bearer {key['key']}"}
    claim = {"worker_id": "gpu@host-1", "job_types": ["describe-picture"], "max_jobs": 10}
    jobs = (await world.ok(admin.post("/worker/jobs/claim", json=claim, headers=headers)))["jobs"]
    assert {job["job_id"] for job in jobs} == set(ids), "only those of its tenant"
    one, two = jobs
    beat = await world.ok(
        admin.post(f"/worker/jobs/{one['job_id']}/heartbeat", json={"fence": one["fence"]}, headers=headers)
    )
    assert beat["cancel_requested"] is False
    done = {"fence": one["fence"], "result": {"caption": "a mill"}}
    complete = f"/worker/jobs/{one['job_id']}/complete"
    assert (await world.ok(admin.post(complete, json=done, headers=headers)))["status"] == "succeeded"
    failed = {"fence": two["fence"], "error": {"error_class": "OutOfMemory", "message": "too large"}}
    told = await world.ok(admin.post(f"/worker/jobs/{two['job_id']}/fail", json=failed, headers=headers))
    assert told["status"] == "dead_letter"
    problem(await admin.get("/jobs", headers=headers), 403, "forbidden")
    problem(await admin.post("/worker/jobs/claim", json=claim), 403, "forbidden")
    assert admin.headers["Authorization"] == admin_key
