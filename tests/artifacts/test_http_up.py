"""What an HTTP worker cannot put."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.artifacts.requests import claimed, put
from tests.artifacts.support import LARGEST, files
from tests.support.api import Api, opened, problem
from tests.support.databases import Database
from tests.support.http_work import NEVER, HttpWorker, define_http, worker


async def test_what_cannot_be_put(api: Api, one: HttpWorker, folder: Path) -> None:
    held = await claimed(api, one)
    wrong = base64.b64encode(bytes(32)).decode()

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(6):
            yield bytes(1 << 20)

    problem(await put(one, held, content=bytes(LARGEST + 1)), 413, "body-too-large")
    problem(await put(one, held, content=endless()), 413, "body-too-large")
    problem(await put(one, held, headers={"Content-Digest": f"sha-256=:{wrong}:"}), 422, "artifact-refused")
    for bad in ("", "sha-256=:AAAA:", "sha-512=:AAAA:", "md5", "sha-256=:*:"):
        problem(await put(one, held, headers={"Content-Digest": bad}), 422, "invalid-digest")
    for name in ("%2E%2E", "a%5Cb", "a%0Ab", "%20a", "%E2%80%AEx", "x" * 300, "a%00b"):
        assert (await put(one, held, name)).status_code == 422, name
    for name in ("..%2F..%2Fetc%2Fpasswd", "a%2Fb"):
        assert (await put(one, held, name)).status_code in (404, 422), name
    problem(await put(one, held, headers={"Content-Type": "nonsense"}), 422, "artifact-refused")
    problem(await put(one, held, params={"expires_in": "0"}), 422, "invalid-request")
    problem(await put(one, held, params={"expires": "5"}), 422, "unknown-parameter")
    problem(await put(one, held, headers={"Idempotency-Key": "k"}), 422, "invalid-request")
    problem(await put(one, held | {"fence": NEVER}), 409, "fence-over")
    problem(await put(one, held | {"fence": "x"}), 409, "fence-over")
    problem(await put(one, held | {"job_id": str(uuid4())}), 404, "not-found")
    problem(
        await one.client.put(f"/worker/jobs/{held['job_id']}/artifacts/a", content=b""),
        422,
        "invalid-request",
    )
    stranger = await worker(api, "v", "bob", queues=["exports"])
    problem(await put(stranger, held), 404, "not-found")
    assert (await one.tell("complete", held)).status_code == 200
    problem(await put(one, held), 409, "fence-over")
    assert await api.rows("select name from postmill.artifact") == []
    assert not folder.exists() or files(folder) == []


@pytest.mark.parametrize("url", [None, "file:///dev/null/x"])
async def test_without_a_store_that_works(database: Database, url: str | None) -> None:
    async with opened(database, others={"artifacts": {"url": url}}) as api:
        await define_http(api, "export", "exports")
        one = await worker(api, "w", "acme", queues=["exports"])
        held = await claimed(api, one)
        problem(await put(one, held), 503, "no-artifact-store" if url is None else "store-unavailable")
