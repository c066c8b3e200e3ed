"""Artifacts on a real socket: connections that break, in one direction and in the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from postmill.domain.access import Role
from postmill.domain.settings_artifacts import ArtifactSettings
from tests.artifacts.requests import claimed, put
from tests.artifacts.support import BIG, files
from tests.support.api import Api
from tests.support.databases import Database
from tests.support.http_work import HttpWorker
from tests.support.served import served
from tests.support.workers import until


async def test_what_breaks_off(
    api: Api, one: HttpWorker, database: Database, store: ArtifactSettings, folder: Path
) -> None:
    held = await claimed(api, one)
    keys = {role: await api.key(role, "acme") for role in (Role.WORKER, Role.OPERATOR)}
    path = f"/api/v1/worker/jobs/{held['job_id']}/artifacts/half"
    async with served(database.dsn, artifacts={"url": store.address}) as url:

        async def half() -> AsyncIterator[bytes]:
            yield BIG
            await until(lambda: any(file.startswith("incoming/") for file in files(folder)))
            raise ConnectionAbortedError

        bearer = {"Authorization": f"Bearer {keys[Role.WORKER]}", "Postmill-Fence": held["fence"]}
        async with httpx.AsyncClient(base_url=url) as client:
            with pytest.raises(ConnectionAbortedError):
                await client.put(path, content=half(), headers=bearer)
            await until(lambda: files(folder) == [])
            assert await api.rows("select name from postmill.artifact") == []
            # Nobody's file is read to its end.
            assert (await client.put(path, content=BIG)).status_code == 401

            made = (await put(one, held, "whole", BIG)).json()
            (file,) = files(folder)
            (folder / file).write_bytes(BIG[:-1] + bytes([BIG[-1] ^ 1]))
            bearer = {"Authorization": f"Bearer {keys[Role.OPERATOR]}"}
            with pytest.raises(httpx.RemoteProtocolError):
                await client.get(f"/api/v1/artifacts/{made['id']}/content", headers=bearer)
