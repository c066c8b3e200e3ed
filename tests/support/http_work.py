"""HTTP workers for tests: definitions of kind `http`, jobs of theirs, and the four calls."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx

from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.operate.definitions import create
from tests.support.api import Api
from tests.support.workers import enqueue

NEVER = "A" * 32
"""A fence that was never given."""


async def define_http(api: Api, key: str, queue: str, **fields: Any) -> None:
    """A definition of kind `http`."""
    await adrive(api.owner, create({"key": key, "kind": "http", "queue": queue, **fields}))


async def job(api: Api, job_type: str, payload: str = "{}", **options: Any) -> UUID:
    """A job, by plain SQL."""
    return await enqueue(api.owner, job_type, payload, **options)


class HttpWorker:
    """One worker by its name, on a client with a key."""

    def __init__(self, client: httpx.AsyncClient, name: str, **claim: Any) -> None:
        self.client = client
        self.ask = {"worker_id": name} | claim

    async def claim(self, **more: Any) -> list[dict[str, Any]]:
        """Jobs; fails where that is no plain answer."""
        answer = await self.try_claim(**more)
        assert answer.status_code == 200, answer.text
        jobs: list[dict[str, Any]] = answer.json()["jobs"]
        return jobs

    async def try_claim(self, **more: Any) -> httpx.Response:
        return await self.client.post("/worker/jobs/claim", json=self.ask | more, timeout=40)

    async def one(self, **more: Any) -> dict[str, Any]:
        """The one job that there is."""
        (job,) = await self.claim(**more)
        return job

    async def tell(self, verb: str, job: dict[str, Any], **body: Any) -> httpx.Response:
        """heartbeat, complete or fail."""
        return await self.client.post(
            f"/worker/jobs/{job['job_id']}/{verb}", json={"fence": job["fence"]} | body
        )


async def worker(api: Api, name: str, tenant: str | None = None, **claim: Any) -> HttpWorker:
    """A worker of the platform, or of a tenant."""
    return HttpWorker(await api.client(Role.WORKER, tenant), name, **claim)


async def expire(api: Api, job: dict[str, Any]) -> None:
    """The job's own lease is over; its session goes on."""
    await api.owner.execute(
        "update postmill.http_claim set expires_at = postmill.now() - interval '1 ms' where job_id = %s",
        [job["job_id"]],
    )


async def rescue(api: Api) -> dict[UUID, str]:
    """One round of the rescuer, by a session that is old enough; the rescued are due at once."""
    await api.owner.execute(
        """insert into postmill.lease (holder, started_at, expires_at)
           values ('00000000-0000-0000-0000-00000000000a', postmill.now() - interval '1 hour', postmill.now() + interval '1 hour')
           on conflict do nothing"""
    )
    found = await api.rows(
        "select id, verdict from postmill.rescue('00000000-0000-0000-0000-00000000000a', 30, 0, 1000)"
    )
    await api.rows("select * from postmill.promote(null, 500, 5000)")
    return dict(found)
