"""Job types that keep a fleet busy in every way that is measured."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from postmill import Context
from postmill.domain.job_type import job
from postmill.domain.limit import Rate
from postmill.domain.policy import Constant

REGISTER = """select * from postmill.register_job_types('[
    {"key": "b_ok"}, {"key": "b_fail", "max_attempts": 2}, {"key": "b_rated"}, {"key": "b_wait", "queue": "CLOSED"},
    {"key": "SCREENSHOT_CAPTURE", "queue": "SCREENSHOT"}, {"key": "b_spend"}, {"key": "b_broke", "budget": "none"}]')"""


@job(retry=Constant(0.1))
async def b_ok() -> None:
    await asyncio.sleep(0.01)


@job(max_attempts=2, retry=Constant(0.1))
async def b_fail() -> None:
    raise ValueError("boom")


@job(rate=Rate(100, per=timedelta(seconds=1), burst=1))
async def b_rated() -> None:
    await asyncio.sleep(0)


@job
async def b_spend(ctx: Context) -> None:
    async with ctx.budget("ai").reserve(0.01) as spend:
        spend.settle()


@job(budget="none")
async def b_broke() -> None:
    await asyncio.sleep(0)


@job(queue="CLOSED")
async def b_wait() -> None:
    await asyncio.sleep(0)


@job(name="SCREENSHOT_CAPTURE", queue="SCREENSHOT")
async def screenshot() -> None:
    await asyncio.sleep(60)
