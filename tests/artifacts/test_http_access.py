"""Who may read and delete artifacts over HTTP, and for which job a worker may."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx

from postmill.domain.access import Role
from tests.artifacts.requests import claimed, put
from tests.support.api import Api, problem
from tests.support.http_work import NEVER, HttpWorker, expire, worker


async def test_who_may(api: Api, one: HttpWorker) -> None:
    held = await claimed(api, one)
    made = (await put(one, held)).json()
    paths = [
        f"/jobs/{held['job_id']}/artifacts",
        f"/artifacts/{made['id']}",
        f"/artifacts/{made['id']}/content",
    ]
    strangers = await api.client(Role.TENANT_ADMIN, "bob")
    for path in paths:
        problem(await strangers.get(path), 404, "not-found")
    problem(await strangers.delete(paths[1]), 404, "not-found")
    for role, reads, deletes in ((Role.VIEWER, False, False), (Role.OPERATOR, True, False), (Role.AUDITOR, False, False),
                                 (Role.WORKER, False, False), (Role.TENANT_ADMIN, True, True)):  # fmt: skip
        client = await api.client(role)
        for path in paths:
            assert (await client.get(path)).status_code == (200 if reads else 403), (role, path)
        assert (await client.delete(paths[1])).status_code == (204 if deletes else 403), role
    problem(await (await api.client(Role.OPERATOR)).get(paths[1]), 404, "not-found")
    rows = await api.rows("select action, via, before ->> 'name' from postmill.audit_log where result = 'done'"
                          " and action like 'artifacts.%%'")  # fmt: skip
    assert rows == [("artifacts.delete", "api", "a.csv")]


async def test_a_worker_reads_for_its_job_only(api: Api, one: HttpWorker) -> None:
    other = await worker(api, "v", "bob", queues=["exports"])
    mine, theirs = await claimed(api, one), await claimed(api, other, "bob")
    secret = (await put(other, theirs)).json()["id"]
    own = (await put(one, mine)).json()["id"]

    async def read(
        who: HttpWorker, held: dict[str, Any], id: str, fence: str | None = None
    ) -> httpx.Response:
        path = f"/worker/jobs/{held['job_id']}/artifacts/{id}/content"
        return await who.client.get(path, headers={"Postmill-Fence": fence or held["fence"]})

    assert (await read(one, mine, own)).content == b"x"
    problem(await read(one, mine, secret), 404, "not-found")
    problem(await read(one, theirs, secret), 404, "not-found")
    problem(await read(one, mine, str(uuid4())), 404, "not-found")
    problem(await read(one, mine, own, NEVER), 409, "fence-over")
    problem(await read(one, mine, own, theirs["fence"]), 409, "fence-over")
    platform = await worker(api, "p", None, queues=["exports"])
    assert (await read(platform, mine, own)).content == b"x"
    problem(await read(platform, mine, secret), 404, "not-found")  # it is of another tenant than the job
    await expire(api, mine)
    problem(await read(one, mine, own), 409, "fence-over")
