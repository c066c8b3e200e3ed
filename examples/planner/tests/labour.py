"""A worker of the application in a test's process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from postmill import Registry, Worker
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.engine.config import WorkerConfig
from postmill.telemetry.bus import Bus
from tests.support.workers import until

IDLE = """
    select not exists (select from postmill.running)
       and not exists (select from postmill.ready)
       and not exists (select from postmill.scheduled where run_at <= postmill.now())
"""
ALL = IDLE.replace("where run_at <= postmill.now()", "")
HURRY = """
    select count(*) = 0 from postmill.retry_jobs(array(select id from postmill.jobs where status = 'queued'
                                                         and attempt_count > 0 and scheduled_for > postmill.now()))
"""


@cache
def served() -> Registry:
    """The application's job types and resources."""
    return Registry.collect("examples.planner.jobs")


@asynccontextmanager
async def labouring(
    dsn: str, files: Path, *types: Any, bus: Bus | None = None, slots: int = 8
) -> AsyncIterator[Worker]:
    """A worker, drained at the end; `types` of a test's own are served, too."""
    registry = served().joined(Registry.collect(*types)) if types else served()
    config = WorkerConfig(
        lease=30.0, grace=5.0, poll_interval=2.0, artifacts=ArtifactSettings(url=SecretStr(f"file://{files}"))
    )
    worker = Worker(dsn, registry, dict.fromkeys(registry.queues, slots), config=config, bus=bus)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PLANNER_DATABASE_URL", dsn)
        task = asyncio.create_task(worker.run())
        try:
            await until(lambda: worker.ready.is_set() or task.done())
            yield worker
        finally:
            worker.drain()
            await task
