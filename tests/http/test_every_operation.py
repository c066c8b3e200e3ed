"""Each operation of the document is asked for by its method, and its answer is understood."""

from __future__ import annotations

from pathlib import Path

import httpx

from postmill.domain.access import Role
from postmill.http import AsyncApiClient
from tests.http import budget_callers, callers, workflow_callers
from tests.http.recording import EXEMPT, Recording, operations
from tests.support.api import BASE, Api, opened
from tests.support.databases import Database


async def test_each_operation(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    store = {"url": (tmp_path / "store").as_uri()}
    cells = {
        "a": {"database_url": database.dsn, "directory": True},
        "b": {"database_url": "postgresql://localhost:1/b"},
    }
    async with opened(database, others={"artifacts": store, "cells": cells}) as api:
        wire = Recording(httpx.ASGITransport(api.app))
        await _call_all(api, wire, folder)
    assert operations().keys() - EXEMPT.keys() - wire.seen == set()


async def _call_all(api: Api, wire: Recording, folder: Path) -> None:
    worker_key = await api.key(Role.WORKER)
    async with (
        AsyncApiClient(BASE, await api.key(Role.SUPER_ADMIN), transport=wire) as admin,
        AsyncApiClient(BASE, worker_key, transport=wire) as worker,
    ):
        await callers.the_server_itself(admin)
        await callers.what_goes_on(admin)
        await callers.tenants_and_projects(admin)
        await callers.cells(admin)
        await callers.keys_and_logins(admin, api)
        await callers.definitions(admin)
        await callers.jobs(admin)
        await workflow_callers.workflows(admin, api)
        await callers.work_artifacts_and_dead_letters(admin, worker, folder)
        await callers.stats_and_errors(admin, api)
        await callers.queues(admin)
        await budget_callers.budgets(admin)
        await budget_callers.spending(admin, worker)
        await callers.incidents(admin, api)
        await callers.triggers_events_and_webhooks(admin)
        await callers.what_happened(admin)
        await callers.retention_and_archive(admin)
        await workflow_callers.steps_over_http(admin, worker, api)
