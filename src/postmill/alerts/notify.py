"""The job that notifies: one at a time for each channel, served by every worker whose settings have channels."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any

from postmill.alerts.channel import Channel
from postmill.alerts.sender import Sender
from postmill.bind import arun
from postmill.domain.job import NewJob
from postmill.domain.job_type import job
from postmill.domain.registry import Registry
from postmill.domain.resource import resource
from postmill.domain.settings_escalation import EscalationSettings
from postmill.domain.signals import Retry, Snooze
from postmill.engine.context import Context
from postmill.store.statement import Statement

JOB_TYPE = "postmill.notify"
QUEUE = "postmill.notify"

PATIENCE = 2.0
"""Seconds for which one job sends before it makes room for others."""

_ATTEMPTS = 1000


def notifying(settings: EscalationSettings, channels: Mapping[str, Channel], schema: str) -> Registry:
    """The job type, and what closes the channels at the end of a process.

    A job that cannot send retries when its channel may be used again. It never becomes a dead letter: what it has not sent
    is in the outbox, and the next job takes it from there.
    """
    plan, known = settings.plan, settings.all_channels

    @resource
    async def open_channels() -> AsyncIterator[Mapping[str, Channel]]:
        yield channels
        for channel in channels.values():
            await channel.close()

    @job(
        JOB_TYPE,
        queue=QUEUE,
        max_attempts=_ATTEMPTS,
        timeout=300,
        keep="failures",
        on_exhausted="fail",
        log_fields=["channel"],
    )
    async def notify(ctx: Context, channel: str) -> None:
        """Sends what people are to be told on one channel."""
        if channel not in channels:
            return  # the round that escalates hands it to another one
        sender = Sender(channel, channels[channel], known[channel], plan, partial(_ask, ctx), schema)
        rested = await sender.drain(PATIENCE)
        if rested is not None and rested.why is not None:
            raise Retry(rested.why, after=rested.seconds)
        if rested is not None:
            raise Snooze(rested.seconds)

    return Registry([notify], [open_channels])


async def _ask(ctx: Context, statement: Statement[Any]) -> Any:
    async with ctx.connection() as transaction:
        return await arun(transaction.connection, statement)


def job_for(channel: str, registry: Registry) -> NewJob:
    """The job of a channel: while one waits or runs there is no other."""
    job_type = registry[JOB_TYPE]
    return job_type.using(key=f"{JOB_TYPE}:{channel}", mode="active", priority=0).new(channel=channel)
