"""Commands as jobs: the exact argv, the five ends of an attempt, retries with backoff, dead letters, and nothing secret."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from examples.photos.tests.world import PROVIDER, TOKEN, World
from postmill import Worker
from tests.support.api import problem

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def started(world: World, key: str, payload: dict[str, Any], tenant: str = "bcg") -> str:
    """A job that was enqueued by hand."""
    admin = await world.admin(tenant)
    body = {"definition_key": key, "payload": payload}
    return str((await world.ok(admin.post("/jobs", json=body), 201))["id"])


@pytest.mark.parametrize(
    ("key", "payload", "options"),
    [
        ("sync-dropbox", {"provider_id": PROVIDER}, f"--provider-id {PROVIDER}"),
        (
            "sync-dropbox",
            {"provider_id": PROVIDER, "path_prefix": "/a b; $(reboot) 'c'"},
            f"--provider-id {PROVIDER} --path-prefix /a b; $(reboot) 'c'",
        ),
        ("recompute-trained-tags", {}, ""),
        ("recompute-trained-tags", {"model": "siglip"}, "--model siglip"),
        ("recompute-zeroshot-tags", {}, ""),
        ("train-keyword-models", {}, ""),
    ],
)
async def test_a_key_and_a_payload_are_an_argv(
    world: World, worker: Worker, key: str, payload: dict[str, Any], options: str
) -> None:
    """`zoltag <key> --tenant-id <uuid>`, then what the payload says."""
    admin = await world.admin("bcg")
    id = await started(world, key, payload)
    job = await world.becomes(admin, id, "succeeded")
    [attempt] = await world.attempts(admin, id)
    said = f"{key} --tenant-id {world.tenants['bcg']} {options}".rstrip()
    assert attempt["stdout_tail"] == f"{said}\n"
    assert (attempt["exit_code"], attempt["status"], attempt["attempt_no"]) == (0, "succeeded", 1)
    assert attempt["worker_id"] == job["claimed_by_worker"] == worker.worker_id
    assert attempt["pid"] > 0
    assert job["finished_at"] >= job["started_at"] >= job["queued_at"]


async def test_a_failure_is_tried_three_times_with_backoff_and_is_then_a_dead_letter(
    world: World, worker: Worker
) -> None:
    admin, stranger = await world.admin("bcg"), await world.admin("lakeside")
    id = await started(world, "sync-dropbox", {"provider_id": PROVIDER, "path_prefix": "/fail"})
    for number, pause in ((1, 5.0), (2, 10.0)):
        job = await world.becomes(admin, id, "scheduled")
        assert (job["attempt_count"], job["max_attempts"]) == (number, 3)
        last = (await world.attempts(admin, id))[-1]
        waits = (moment(job["scheduled_for"]) - moment(last["finished_at"])).total_seconds()
        assert pause * 0.75 <= waits <= pause * 1.25 + 0.2
        # "Retry" of one that waits makes it due; without it the pause would end by itself.
        assert (await world.ok(admin.post(f"/jobs/{id}/retry")))["id"] == id
        await world.becomes(admin, id, "running", "scheduled", "dead_letter")
        if number == 1:
            await _attempt(world, admin, id, 2)
    job = await world.becomes(admin, id, "dead_letter")
    assert job["last_error"].startswith("zoltag ended with exit code 69: zoltag: with [redacted]")
    attempts = await world.attempts(admin, id)
    assert [(one["attempt_no"], one["status"], one["exit_code"]) for one in attempts] == [
        (number, "failed", 69) for number in (1, 2, 3)
    ]
    # Neither the API nor the database has the token, which the program wrote twice.
    assert "[redacted]" in attempts[0]["stderr_tail"]
    assert "Invalid authorization value" in attempts[0]["stderr_tail"]
    stored = await world.api.rows("select a::text from postmill.job_attempts a where job_id = %s", id)
    for text in (str(attempts), str(job), str(stored)):
        assert TOKEN not in text
        assert TOKEN.removeprefix("sl.u.") not in text
    [dead] = (await world.ok(admin.get("/dead-letters")))["items"]
    assert dead["id"] == id
    assert (await world.ok(stranger.get("/dead-letters")))["items"] == []
    problem(await stranger.post(f"/dead-letters/{id}/replay"), 404, "not-found")
    again = await world.ok(admin.post(f"/jobs/{id}/retry"), 201)
    assert (again["id"] != id, again["replayed_from"]) == (True, id)
    await world.becomes(admin, again["id"], "scheduled")
    assert (await world.ok(admin.post(f"/jobs/{again['id']}/cancel")))["status"] == "canceled"


async def _attempt(world: World, admin: Any, id: str, number: int) -> None:
    """Wait until so many attempts have ended."""
    while len([one for one in await world.attempts(admin, id) if one["finished_at"]]) < number:
        await world.becomes(admin, id, "queued", "running", "scheduled", "dead_letter")


async def test_a_timeout_and_a_cancel_end_the_program(world: World, worker: Worker) -> None:
    admin = await world.admin("bcg")
    body = world.definitions["sync-dropbox"]
    fields = {name: body[name] for name in ("arg_schema", "argv_template")}
    quick = fields | {"key": "sync-quickly", "timeout_seconds": 0.2, "max_attempts": 1}
    await world.ok(world.root.post("/admin/jobs/definitions", json=quick), 201)
    hang = {"provider_id": PROVIDER, "path_prefix": "/hang"}
    id = await started(world, "sync-quickly", hang)
    await world.becomes(admin, id, "dead_letter")
    [attempt] = await world.attempts(admin, id)
    assert attempt["status"] == "timeout"

    id = await started(world, "sync-dropbox", hang)
    await world.becomes(admin, id, "running")
    [attempt] = await world.attempts(admin, id)
    assert (attempt["status"], attempt["exit_code"], attempt["finished_at"]) == ("running", None, None)
    assert (await world.ok(admin.get("/jobs/summary")))["running_count"] == 1
    asked = await world.ok(admin.post(f"/jobs/{id}/cancel", json={"reason": "wrong folder"}), 202)
    assert (asked["status"], asked["cancel_requested"]) == ("running", True)
    await world.becomes(admin, id, "canceled")
    assert [one["status"] for one in await world.attempts(admin, id)] == ["canceled"]


async def test_a_command_that_has_just_been_defined_is_run_at_once(world: World, worker: Worker) -> None:
    """A worker may claim the job before it hears of the command, puts it back, and looks again by its poll of 30 s only."""
    admin = await world.admin("bcg")
    fields = {name: world.definitions["sync-dropbox"][name] for name in ("arg_schema", "argv_template")}
    for number in range(20):
        body = fields | {"key": f"sync-{number}"}
        await world.ok(world.root.post("/admin/jobs/definitions", json=body), 201)
        await asyncio.sleep(number % 5 * 0.004)
        id = await started(world, f"sync-{number}", {"provider_id": PROVIDER})
        await world.becomes(admin, id, "succeeded")


async def test_the_workers_are_seen_by_the_platform_only(world: World, worker: Worker) -> None:
    [seen] = (await world.ok(world.root.get("/workers")))["items"]
    assert (seen["worker_id"], seen["state"]) == (worker.worker_id, "running")
    assert set(world.definitions) <= set(seen["job_types"])
    problem(await (await world.admin("bcg")).get("/workers"), 403, "forbidden")


def moment(text: str) -> datetime:
    """A moment of the API."""
    return datetime.fromisoformat(text)
