"""A worker of the application in a test's process: its clock may be turned, and its spans are kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from psycopg import AsyncConnection

from examples.homepage.statements import FOLDER
from postmill import Registry, Worker
from postmill.domain.settings_load import load
from postmill.engine.config import WorkerConfig
from postmill.telemetry.bus import Bus
from postmill.telemetry.tracing import trace_jobs
from tests.support.workers import until

ENV = {"PAGERDUTY_INTEGRATION_KEY": "pd-key", "SLACK_OPS_WEBHOOK": "https://hooks.slack.example/ops"}
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
def served(*, schedules: bool = False) -> Registry:
    """The application's job types, with the retries of homepage.yaml; their schedules where they are wanted."""
    retry = load(FOLDER / "homepage.yaml", env=ENV).retry
    found = Registry.collect("examples.homepage.jobs").with_retry(retry.policy, retry.max_attempts)
    return found if schedules else Registry.collect(*found, *found.resources)


@dataclass
class Labour:
    """What a worker does. `spans` are there when it has ended."""

    looking: AsyncConnection[Any]
    exporter: InMemorySpanExporter

    async def idle(self, *, hurry: bool = False) -> None:
        """Wait until nothing is left that is due; `hurry`: next attempts are due at once, as by `postmill jobs retry`."""
        await until(lambda: self.all_true(*((HURRY, ALL) if hurry else (IDLE,))))

    async def all_true(self, *queries: str) -> bool:
        """Whether each of these queries says true."""
        for query in queries:
            [[true]] = await (await self.looking.execute(query.encode())).fetchall()
            if not true:
                return False
        return True

    @property
    def spans(self) -> list[ReadableSpan]:
        """Of every execution, in the order of their ends."""
        return list(self.exporter.get_finished_spans())


@asynccontextmanager
async def labouring(dsn: str, *, schedules: bool = False) -> AsyncIterator[Labour]:
    """A worker, drained at the end."""
    exporter, provider, bus = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False), Bus()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    stop = trace_jobs(bus, provider)
    assert stop is not None
    registry, config = served(schedules=schedules), WorkerConfig(lease=30.0, grace=5.0, poll_interval=2.0)
    worker = Worker(dsn, registry, dict.fromkeys(registry.queues, 8), config=config, bus=bus)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HOMEPAGE_DATABASE_URL", dsn)
        task = asyncio.create_task(worker.run())
        try:
            await until(lambda: worker.ready.is_set() or task.done())
            async with await AsyncConnection.connect(dsn, autocommit=True) as looking:
                yield Labour(looking, exporter)
        finally:
            worker.drain()
            await task
    stop()
