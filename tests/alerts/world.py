"""Workers that escalate to stand-ins, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection

from examples.upstreams.alerts.service import AlertService, serve
from postmill.alerts.equipment import equipment
from postmill.domain.registry import AnyJobType, Registry
from postmill.domain.settings import Settings
from postmill.domain.settings_load import load
from postmill.engine.config import WorkerConfig
from postmill.engine.link import Link
from postmill.engine.upkeep.round import MakeRound, Round
from postmill.engine.worker import Worker
from postmill.telemetry.bus import Bus

HOOK = "/services/T0/B0/x"
EVENTS = "/v2/enqueue"


def settings_of(folder: Path, **escalation: Any) -> Settings:
    """Settings with this section `escalation`, and `queues` where given."""
    queues = escalation.pop("queues", {})
    return load(env={}, folder=folder, overrides={"escalation": escalation, "queues": queues})


def slack(service: AlertService, **more: Any) -> dict[str, Any]:
    """A channel of this kind at a stand-in."""
    return {"kind": "slack", "url": service.url + HOOK, **more}


def pagerduty(service: AlertService, **more: Any) -> dict[str, Any]:
    """A channel of this kind at a stand-in."""
    return {"kind": "pagerduty", "key": "integration-key", "url": service.url + EVENTS, **more}


@contextmanager
def serving(*services: AlertService) -> Iterator[None]:
    """Stand-ins that listen."""
    stop = serve(*services)
    try:
        yield
    finally:
        stop()


@asynccontextmanager
async def escalating(
    dsn: str, settings: Settings, *types: AnyJobType, queues: Mapping[str, int] | None = None, **config: Any
) -> AsyncIterator[Worker]:
    """A worker with everything that `postmill worker` gives it; its round looks twenty times a second."""
    equipped = equipment(settings, "postmill")
    assert equipped is not None
    registry = Registry(types).with_queues(settings.declared_queues).joined(equipped.registry)
    rounds = {role: _quick(make) for role, make in equipped.rounds.items()}
    how: dict[str, Any] = {"lease": 6.0, "grace": 10.0, "poll_interval": 2.0, "rounds": rounds, **config}
    served: dict[str, Any] = {**(queues or {}), **equipped.queues()}
    worker = Worker(dsn, registry, served, config=WorkerConfig(**how))
    task = asyncio.create_task(worker.run())
    ready = asyncio.create_task(worker.ready.wait())
    await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED, timeout=30)
    ready.cancel()
    try:
        yield worker
    finally:
        worker.drain()
        await task


def _quick(make: MakeRound) -> MakeRound:
    def made(link: Link, bus: Bus, worker_id: str) -> Round:
        round = make(link, bus, worker_id)
        round.every = 0.05  # type: ignore[misc]
        return round

    return made


async def value(conn: AsyncConnection[Any], query: str, *args: Any) -> Any:
    """The first value of the first row; None: there is none."""
    row = await (await conn.execute(query.encode(), args)).fetchone()
    return None if row is None else row[0]


async def raised(conn: AsyncConnection[Any], key: str, severity: str = "warning", **more: Any) -> Any:
    """An incident of kind budget; its id."""
    named = "".join(f", p_{name} => %({name})s" for name in more)
    text = (
        f"select postmill.raise_incident('budget', %(key)s, %(severity)s, 'spent ' || %(key)s, '{{}}'{named})"
    )
    row = await (await conn.execute(text.encode(), {"key": key, "severity": severity, **more})).fetchone()
    assert row is not None
    return row[0]


Told = Callable[[], bool]
