"""Queues, routing, retries, TTLs: the tables of the design, line by line; and that q:critical starves nobody."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from typing import Any

import pytest

from examples.planner.kinds import FOLLOW_UP
from examples.planner.messages.message import NotNow, Undeliverable
from examples.planner.policy import Forbidden
from examples.planner.queues import CRITICAL, DEADLETTER, DEFAULT, NAMES, QUEUES
from examples.planner.statements import FOLDER
from examples.planner.tests.labour import served
from examples.planner.tests.office import ORG, Office
from postmill import Context, aenqueue_many, job
from postmill.domain.retry import delay_of
from postmill.domain.settings_load import load
from tests.support.workers import until

# type: queue, category, attempts, longest wait (s), TTL of keys (days)
TABLE = {
    "project.provision": ("q:critical", None, 5, 300, 7),
    "staffing.refresh": ("q:default", None, 5, 300, 7),
    "audit.explain-run-sheet": ("q:default", "audit", 5, 300, 30),
    "notification.deliver": ("q:notifications", "notifications", 10, 1800, 7),
    "planning.conflict-scan": ("q:planning", "planning", 3, 120, 30),
    "planning.auto-assign": ("q:planning", "planning", 3, 120, 30),
    "export.planning": ("q:exports", "exports", 5, 600, 30),
    "import.availability": ("q:exports", "imports", 5, 600, 30),
    "maintenance.expired-keys": ("q:maintenance", "maintenance", 5, 300, 7),
    "maintenance.rebuild-search": ("q:maintenance", "maintenance", 5, 300, 7),
}


def test_names_and_slos() -> None:
    assert NAMES == (
        "q:critical", "q:default", "q:notifications", "q:planning", "q:exports", "q:maintenance", "q:deadletter"
    )  # fmt: skip
    assert [queue.sla for queue in QUEUES] == [10, 60, 120, 300, 900, 21600]
    said = load(FOLDER / "postmill.toml", env={}).queues
    assert set(said) == {queue.name for queue in QUEUES}, "nothing is claimed from q:deadletter"
    assert DEADLETTER not in served().queues
    slots = said["q:critical"].slots
    assert slots == 4 == next(limit.max_running for limit in CRITICAL.limits or ())


@pytest.mark.parametrize("name", TABLE)
def test_routing_retries_and_times(name: str) -> None:
    """5 s doubling with jitter, up to the category's longest wait; attempts and TTL by category."""
    kind = served().get(name)
    assert kind is not None
    assert set(served().names) == set(TABLE)
    queue, category, attempts, most, days = TABLE[name]
    assert (kind.queue, kind.category, kind.max_attempts) == (queue, category, attempts)
    assert kind.strict_envelope
    assert kind.idempotency is not None
    assert kind.idempotency.window == timedelta(days=days)
    assert kind.action, "whoever is on call is told what to do"
    first = [delay_of(kind.retry, 1, rng=random.Random(seed)).seconds for seed in range(50)]
    assert len(set(first)) > 40
    assert 3.75 <= min(first) <= max(first) <= 6.25
    assert delay_of(kind.retry, 30, rng=random.Random(1)).seconds == pytest.approx(most, rel=0.26)
    assert max(delay_of(kind.retry, 30, rng=random.Random(seed)).seconds for seed in range(50)) <= most


def test_what_is_tried_again() -> None:
    import httpx
    import psycopg

    from examples.planner.files.availability import BadFile
    from examples.planner.messages.templates import BadTemplate
    from examples.planner.scheduling import ScheduleRefused
    from postmill.domain.classify import Classifier

    for error in (
        httpx.ConnectTimeout("t"), TimeoutError(), psycopg.errors.SerializationFailure(), psycopg.OperationalError(),
        NotNow("503"),
    ):  # fmt: skip
        assert Classifier().verdict(error).retryable, error
    for permanent in (
        Forbidden("x"),
        BadFile("x"),
        BadTemplate("x"),
        Undeliverable("x"),
        ScheduleRefused("x"),
    ):
        assert not Classifier().verdict(permanent).retryable, permanent


GATE = asyncio.Event()
RUNNING: list[int] = []


@job("test.core", queue=CRITICAL, idempotency=FOLLOW_UP, strict_envelope=True)
async def core(ctx: Context, number: int) -> int:
    """Holds its slot until the gate opens; how many ran at most."""
    RUNNING.append(len(RUNNING) + 1)
    most = max(RUNNING)
    await GATE.wait()
    RUNNING.pop()
    return most


@job("test.plain", queue=DEFAULT, idempotency=FOLLOW_UP, strict_envelope=True)
async def plain(ctx: Context, number: int) -> int:
    """Nothing."""
    return number


async def test_q_critical_is_capped_and_starves_nobody(office: Office) -> None:
    """Thirty critical jobs that never end: four run, whatever the slots, and q:default goes on."""
    from postmill import AsyncClient

    GATE.clear()
    RUNNING.clear()
    async with AsyncClient(office.dsn) as client:
        await client.register([core, plain])
    who: dict[str, Any] = {
        "tenant": ORG,
        "actor_type": "system",
        "actor_id": "t",
        "request_id": "r",
        "correlation_id": "c",
    }
    await aenqueue_many(office.conn, [core.using(**who).new(number=n) for n in range(30)])
    made = await aenqueue_many(office.conn, [plain.using(**who).new(number=n) for n in range(20)])
    async with office.work(core, plain, slots=10):
        await until(lambda: len(RUNNING) == 4)

        async def defaults_are_done() -> bool:
            done = "select count(*) = 20 as done from postmill.jobs where job_type = 'test.plain' and status = 'succeeded'"
            return bool((await office.row(done))["done"])

        await until(defaults_are_done)
        assert len(RUNNING) == 4
        GATE.set()
        await office.idle()
    assert len(made) == 20
    most = await office.row(
        "select max((o.result #>> '{}')::int) as most from postmill.outcome o join postmill.job j on j.id = o.job_id"
        " where j.job_type = 'test.core'"
    )
    assert most == {"most": 4}
