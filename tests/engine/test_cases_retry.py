"""Case 45: no retry policy loses a job, however many attempts it has behind it and whatever it answers. Case 51: no error
is too big, too long or too strange to be stored. Case 47: a deploy costs no attempt."""

from __future__ import annotations

import asyncio
import json
import math
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from postmill.domain.job_type import job
from postmill.domain.policy import Exponential
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import JobFailed
from tests.engine.test_outcomes import end, one
from tests.support.databases import Database
from tests.support.tickets import changed
from tests.support.workers import enqueue, until, working


@pytest.fixture
def database(emptied: Database) -> Database:
    """One for the whole module: its tests are many and small."""
    return emptied


Conn = psycopg.AsyncConnection[Any]
DAY = 86400.0


def _raises(attempt: int, error: BaseException) -> float:
    raise ZeroDivisionError("in the policy")


POLICIES: dict[str, tuple[Any, float, bool]] = {
    # name: the policy, the longest delay that it may come to, whether the default has to step in
    "base_1_factor_2": (Exponential(1, 2, cap=None), 30 * DAY, False),
    "base_1_factor_5": (Exponential(1, 5, cap=None), 30 * DAY, False),
    "base_1_factor_10": (Exponential(1, 10, cap=None), 30 * DAY, False),
    "factor_2_cap_60": (Exponential(1, 2, cap=60), 60, False),
    "factor_10_cap_60": (Exponential(1, 10, cap=60), 60, False),
    "raises": (_raises, 300, True),
    "NaN": (lambda attempt, error: math.nan, 300, True),
    "minus_one": (lambda attempt, error: -1, 300, True),
    "1e300": (lambda attempt, error: 1e300, 300, True),
    "a_string": (lambda attempt, error: "soon", 300, True),
    "nothing": (lambda attempt, error: None, 300, True),
    "the_power_is_taken_first": (lambda attempt, error: min(60, 5.0**attempt), 300, True),
    "a_long_timedelta": (lambda attempt, error: timedelta(days=3649), 30 * DAY, False),
}


async def test_backoff_at_attempt_5000(database: Database, apg: Conn) -> None:
    """The counter is set by SQL, as after months of trying."""
    types = {}
    for name, (policy, _, _) in POLICIES.items():

        @job(name, retry=policy, max_attempts=1_000_000)
        async def boom() -> None:
            raise ValueError("once more")

        types[name] = boom
    bus, failures = Bus(), dict[str, JobFailed]()
    bus.subscribe(lambda event: failures.update({event.job.job_type: event}), JobFailed)
    keys = json.dumps([{"key": name, "max_attempts": 1_000_000} for name in types])
    await apg.execute("select * from postmill.register_job_types(%s)", [keys])
    ids = {name: await enqueue(apg, name) for name in types}
    await apg.execute(changed("ready", """'{"attempt": 5000}'""", "true"))
    async with working(database.dsn, *types.values(), bus=bus, upkeep=False):
        await until(lambda: len(failures) == len(types))
        for name, (_, longest, fallback) in POLICIES.items():
            assert (await end(apg, ids[name], "scheduled"))[0] == 5001
            due = "select run_at, extract(epoch from run_at - postmill.now())::float8 from postmill.scheduled where id = %s"
            at, delay = await one(apg, due, ids[name])
            assert at.year < 2100
            assert -15 < delay <= longest, name
            assert failures[name].will_retry
            assert bool(failures[name].fallback) is fallback, failures[name].fallback


@pytest.mark.parametrize("size", [10_000, 1_000_000, 100_000_000])
@pytest.mark.parametrize("character", ["x", "\N{PILE OF POO}"], ids=["ascii", "four bytes"])
async def test_a_huge_error_is_stored_head_and_tail(
    database: Database, apg: Conn, size: int, character: str
) -> None:
    """So many bytes of text, with characters that the cut would break, and with what PostgreSQL refuses."""
    text = "HEAD\x00\ud800" + character * (size // len(character.encode())) + "TAIL"

    @job(max_attempts=1)
    async def boom() -> None:
        raise ValueError(text)

    @job
    async def after() -> None: ...

    async with working(database.dsn, boom, after):
        id = await enqueue(apg, "boom")
        await end(apg, id, "dead_letter")
        message, stack = await one(
            apg, "select error_message, stack from postmill.dead_letter where id = %s", id
        )
        for kept, bound in ((message, 16 * 1024), (stack, 32 * 1024)):
            assert len(kept.encode()) <= bound
            assert kept.count("\N{REPLACEMENT CHARACTER}") == 2, (
                "those two that cannot be stored, and no halves"
            )
        assert message.startswith("HEAD\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}" + character)
        assert message.endswith(character + "TAIL")
        assert f"{len(text)} characters in all" in message or size == 10_000
        assert await one(apg, "select error_message from postmill.attempt where job_id = %s", id) == message
        await end(apg, await enqueue(apg, "after"), "succeeded")


@pytest.mark.parametrize("which", ["str raises", "repr raises", "bytes", "deep chain", "many in a group"])
async def test_a_strange_error_is_stored(database: Database, apg: Conn, which: str) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

        __repr__ = __str__

    def chain(n: int) -> BaseException:
        error: BaseException = ValueError("last")
        for _ in range(n):
            outer = ValueError("y" * 1000)
            outer.__cause__ = error
            error = outer
        return error

    errors: dict[str, BaseException] = {
        "str raises": Mute(),
        "repr raises": ValueError(Mute()),
        "bytes": UnicodeDecodeError("utf-8", bytes(range(256)) * 1000, 0, 1, "\x00\udcff"),
        "deep chain": chain(500),
        "many in a group": ExceptionGroup("all", [ValueError("z" * 1000) for _ in range(1000)]),
    }

    @job(max_attempts=1)
    async def boom() -> None:
        raise errors[which]

    async with working(database.dsn, boom):
        id = await enqueue(apg, "boom")
        assert (await end(apg, id, "dead_letter"))[1] == "max_retries_exceeded"
        sizes = "select octet_length(error_message), octet_length(stack) from postmill.dead_letter"
        message, stack = await one(apg, sizes)
        assert message <= 16 * 1024
        assert (stack or 0) <= 32 * 1024


async def test_deploys_cost_no_attempt(database: Database, apg: Conn) -> None:
    """Case 47: a job with two attempts outlives more drains than it has attempts, and then ends well."""
    starts: list[int] = []

    @job("long", max_attempts=2)
    async def long() -> str:
        starts.append(len(starts))
        await asyncio.sleep(0 if len(starts) > 3 else 60)
        return "done"

    await apg.execute("""select * from postmill.register_job_types('[{"key": "long", "max_attempts": 2}]')""")
    id = await enqueue(apg, "long")
    for deploy in range(3):
        async with working(database.dsn, long, grace=0.1):
            await until(lambda deploy=deploy: len(starts) > deploy)
    async with working(database.dsn, long):
        assert (await end(apg, id, "succeeded"))[0] == 1
    interrupted = "select count(*) from postmill.attempt where status = 'interrupted'"
    assert await one(apg, interrupted) == 3
