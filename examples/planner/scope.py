"""The door that every handler goes through: its organization, its actor's rights of this moment, its database role."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from examples.planner.caller import caller_of
from examples.planner.policy import Action, require
from examples.planner.resources import Conn, Role, databases
from examples.planner.scheduling import check_schedulable
from postmill import Context


@asynccontextmanager
async def admitted(ctx: Context, needs: Action, role: Role = "planner_app") -> AsyncIterator[Conn]:
    """A transaction of the job's: it sees its own organization, and is refused to an actor who may not do this (any more).

    Raises:
        Forbidden: the actor has no such right now; not tried again.
        ScheduleRefused: somebody has scheduled, past the API, what cannot be scheduled; not tried again.
    """
    if ctx.job.scheduled_for is not None:
        check_schedulable(ctx.job.job_type)
    async with ctx.resource(databases)[role].connection() as conn, conn.transaction():
        await ctx.ascope(conn)
        await require(conn, caller_of(ctx), needs, ctx.job.project_id)
        yield conn
