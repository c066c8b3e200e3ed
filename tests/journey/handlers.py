"""Handlers of the journeys. What they do is written to `probe` over a connection of their own, in autocommit: it
survives whatever becomes of the platform's own transactions."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import psycopg

from postmill.domain.job_type import job
from postmill.domain.policy import Constant
from postmill.engine.context import Context

SCHEMA = """
create table if not exists probe (
    job_id uuid, attempt int, pid int, event text, at timestamptz default clock_timestamp());
"""

REGISTER = """select * from postmill.register_job_types('[
    {"key": "p_ok", "max_attempts": 20}, {"key": "p_sleep", "max_attempts": 20}, {"key": "p_block", "max_attempts": 20},
    {"key": "p_die", "max_attempts": 3}, {"key": "p_effect", "max_attempts": 20}, {"key": "p_fail", "max_attempts": 2},
    {"key": "p_thread", "max_attempts": 20}
]')"""


class Probe:
    """The connection of this process, made at its first use and again after a loss."""

    conn: psycopg.Connection[tuple[object, ...]] | None = None

    def write(self, row: tuple[object, ...]) -> None:
        for _ in range(50):
            try:
                if self.conn is None:
                    self.conn = psycopg.connect(os.environ["PROBE_DSN"], autocommit=True)
                self.conn.execute(
                    "insert into probe (job_id, attempt, pid, event) values (%s, %s, %s, %s)", row
                )
            except psycopg.Error:
                if self.conn is not None:
                    self.conn.close()
                self.conn = None
                time.sleep(0.1)
            else:
                return


PROBE = Probe()


def note(ctx: Context, event: str) -> None:
    """One line in the probe."""
    PROBE.write((ctx.job.id, ctx.attempt, os.getpid(), event))


@job(max_attempts=20, retry=Constant(0.1))
async def p_ok(ctx: Context) -> None:
    note(ctx, "start")
    note(ctx, "end")


@job(max_attempts=20, retry=Constant(0.1))
async def p_sleep(ctx: Context, seconds: float) -> None:
    note(ctx, "start")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note(ctx, "stopped")
        raise
    note(ctx, "end")


@job(max_attempts=20, retry=Constant(0.1))
async def p_block(ctx: Context, seconds: float) -> None:
    """Blocks the loop, as no coroutine should."""
    note(ctx, "start")
    time.sleep(seconds)
    note(ctx, "end")


@job(max_attempts=20, retry=Constant(0.1))
def p_thread(ctx: Context, seconds: float) -> None:
    note(ctx, "start")
    time.sleep(seconds)
    note(ctx, "end")


@job(max_attempts=3, retry=Constant(0.1))
async def p_die(ctx: Context, how: str = "SIGKILL") -> None:
    note(ctx, "start")
    if how == "exit":
        os._exit(0)
    os.kill(os.getpid(), getattr(signal, how))
    await asyncio.sleep(60)


@job(max_attempts=20, retry=Constant(0.1))
async def p_effect(ctx: Context, seconds: float = 0.0) -> None:
    """The effect and the success are one commit: exactly once, whatever happens. After so many seconds of work."""
    await asyncio.sleep(seconds)
    async with ctx.transaction() as tx:
        await tx.execute("insert into effect (job_id) values (%s)", (ctx.job.id,))


@job(max_attempts=2, retry=Constant(0.1))
async def p_fail(ctx: Context, text: str = "boom") -> None:
    note(ctx, "start")
    raise ValueError(text)


@job(max_attempts=3, retry=Constant(0.1))
async def embed(n: int) -> None:
    """What the letters of tests/support/letters.py were to do."""
