"""Job types of the tests: each run is written down, so that one that ran twice is seen."""

from __future__ import annotations

import os
import time

import postmill
from postmill import Context

NOTED = (
    "create table if not exists public.ran (id uuid, tenant uuid, at timestamptz default clock_timestamp())"
)
BOOK = "POSTMILL_TEST_BOOK"
"""The folder where processes write down what they ran, each in a file of its own."""


@postmill.job(queue="default", max_attempts=3)
async def work(ctx: Context) -> None:
    """Writes down that it ran, in the transaction in which it ends."""
    async with ctx.transaction() as tx:
        await tx.execute(
            "insert into public.ran (id, tenant) values (%s, %s)", [ctx.job.id, ctx.job.tenant_id]
        )


@postmill.job(queue="quick", max_attempts=3)
async def jot(ctx: Context) -> None:
    """Writes down that it ran, and when, in a file."""
    with open(f"{os.environ[BOOK]}/{os.getpid()}", "a") as book:
        book.write(f"{ctx.job.id} {ctx.job.tenant_id} {time.time()}\n")
