"""Handlers that spend."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import psycopg

from postmill import BudgetDeferred, Context, Snooze, job
from postmill.domain.policy import Constant

QUICK = Constant(0.01, jitter=(1, 1))


@job("tag", retry=QUICK)
async def tag(
    ctx: Context, cost: float = 0.5, settle: float | None = 0.4, budget: str = "ai"
) -> dict[str, Any]:
    """Two lines."""
    async with ctx.budget(budget).reserve(cost) as spend:
        if settle is not None:
            spend.settle(settle, tokens_in=10, tokens_out=20)
    after = await ctx.budget(budget)
    return {"level": after.level, "batch": after.batch(20), "percent": str(after.percent)}


@job("tag_in_thread", retry=QUICK)
def tag_in_thread(ctx: Context, cost: float = 0.5, settle: float = 0.4) -> dict[str, Any]:
    """The same without await; what is known needs no look."""
    budget = ctx.budget("ai")
    before = budget.batch(20)
    with budget.reserve(cost) as spend:
        spend.settle(settle)
    return {"before": before, "level": budget.level, "batch": budget.batch(20)}


@job("tag_in_child", retry=QUICK, isolation="process")
async def tag_in_child(ctx: Context, cost: float = 0.5, settle: float = 0.4) -> str:
    """In a process of its own."""
    async with ctx.budget("ai").reserve(cost) as spend:
        spend.settle(settle)
    return (await ctx.budget("ai")).level


@job("raising", retry=QUICK, max_attempts=1)
async def raising(ctx: Context, how: str) -> None:
    """Blocks that end by an exception, or are told that nothing was called."""
    async with ctx.budget("ai").reserve(0.25, started=how != "unstarted") as spend:
        if how == "settled":
            spend.settle(0.2)
        if how == "released":
            spend.release()
        if how in ("settled", "unknown", "unstarted"):
            raise ValueError("after the call")
        if how == "twice":
            spend.settle(0.1)
            spend.settle(0.1)


@job("blocking", retry=QUICK, max_attempts=1)
async def blocking(ctx: Context) -> int:
    """Forgot to await."""
    return ctx.budget("ai").batch(20)


@job("put_off", retry=QUICK)
async def put_off(ctx: Context) -> None:
    """Has no next run: waits for the budget."""
    try:
        await ctx.budget("ai").acheck()
    except BudgetDeferred as wait:
        raise Snooze(3600, wait.reason) from None


@job("declared", budget="ai", retry=QUICK)
async def declared() -> str:
    """Runs only while there is money."""
    return "ran"


@job("declared_child", budget="AI", isolation="process", retry=QUICK, on_exhausted="fail")
def declared_child() -> str:
    """The same, in a process of its own; seed 1's way to end."""
    return "ran"


@job("hang", retry=QUICK)
async def hang(ctx: Context, started: bool = True) -> None:
    """Holds a reservation until somebody ends it."""
    async with ctx.budget("ai").reserve(0.09, started=started):
        await asyncio.sleep(600)


@job("call", retry=QUICK, timeout=60)
async def call(ctx: Context, cost: str = "0.09", die: bool = False) -> None:
    """A call that somebody counts; the worker may be killed after it, before it settles."""
    async with ctx.budget("ai").reserve(cost) as spend:
        async with await psycopg.AsyncConnection.connect(
            os.environ["PROBE_DSN"], autocommit=True
        ) as provider:
            await provider.execute("insert into called values (%s, %s, %s)", [spend.id, ctx.job.id, cost])
        if die and ctx.attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        spend.settle(cost, tokens_in=1000, tokens_out=200)
