"""What a process holds open: connections to the planner's tables, as one of three database roles, and the ways to people."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal

from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool

from examples.planner.messages.channels import Channels
from examples.planner.settings import Settings, from_environment
from postmill import resource

Conn = AsyncConnection[Any]
Pool = AsyncConnectionPool[Conn]
Role = Literal["planner_app", "planner_planning", "planner_auditing"]
ROLES: tuple[Role, ...] = ("planner_app", "planner_planning", "planner_auditing")


ALIVE: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""Of connections: a server that is gone without a word (a failover, a cable) is noticed within half a minute."""


def pool_of(settings: Settings, role: Role, patience: float = 30.0) -> Pool:
    """Connections that begin as this role, in autocommit, not yet open.

    `patience`: seconds for which a free one is waited for.
    """
    dsn = settings.database_url.get_secret_value()
    options = f"{conninfo_to_dict(dsn).get('options') or ''} -c role={role}"
    return AsyncConnectionPool(
        make_conninfo(dsn, options=options.strip(), **ALIVE),
        min_size=0,
        max_size=settings.connections,
        timeout=patience,
        kwargs={"autocommit": True, "application_name": role.replace("_", " ")},
        check=AsyncConnectionPool.check_connection,
        open=False,
    )


@asynccontextmanager
async def pools_of(settings: Settings) -> AsyncIterator[Mapping[Role, Pool]]:
    """A pool for each role."""
    async with AsyncExitStack() as stack:
        yield {role: await stack.enter_async_context(pool_of(settings, role)) for role in ROLES}


@resource
async def databases() -> AsyncIterator[Mapping[Role, Pool]]:
    """The pools of a worker process."""
    async with pools_of(from_environment()) as pools:
        yield pools


@resource
async def channels() -> AsyncIterator[Channels]:
    """E-mail, SMS, push and in-app of a worker process."""
    async with Channels(from_environment()) as opened:
        yield opened
