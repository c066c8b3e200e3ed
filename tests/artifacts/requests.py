"""Requests that these tests send."""

from __future__ import annotations

from typing import Any

import httpx

from tests.support.api import Api
from tests.support.http_work import HttpWorker, job


async def claimed(api: Api, one: HttpWorker, tenant: str = "acme") -> dict[str, Any]:
    await job(api, "export", tenant=await api.tenant(tenant))
    return await one.one()


async def put(
    one: HttpWorker, held: dict[str, Any], name: str = "a.csv", content: Any = b"x", **more: Any
) -> httpx.Response:
    headers = {"Postmill-Fence": held["fence"]} | more.pop("headers", {})
    path = f"/worker/jobs/{held['job_id']}/artifacts/{name}"
    return await one.client.put(path, content=content, headers=headers, **more)
