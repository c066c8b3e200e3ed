"""What the application holds while it runs: its connections, its settings, and what it remembers of who asks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from postmill.api.denials import Denials
from postmill.api.entrance import Entrance
from postmill.api.key_cache import KeyCache
from postmill.api.known_cells import KnownCells
from postmill.api.measured import Measured
from postmill.api.movers import Movers
from postmill.api.oidc import Provider
from postmill.api.rules import Rules
from postmill.archive.storage import ArchiveStorage
from postmill.artifacts.storage import Storage
from postmill.bind import arun
from postmill.domain.access import Principal
from postmill.domain.settings import Settings
from postmill.engine.http_work.desk import Desk
from postmill.operate.doctor.examine import Report
from postmill.store.audit import deny
from postmill.store.scaling import Loads


@dataclass(frozen=True, slots=True)
class Backend:
    """The connections that requests share, what was set, the HTTP workers' desk, where jobs come in, where files are and where
    history went."""

    pool: AsyncConnectionPool[AsyncConnection[Any]]
    settings: Settings
    desk: Desk
    entrance: Entrance
    storage: Storage
    archive: ArchiveStorage
    cells: KnownCells
    movers: Movers
    provider: Provider | None = None
    keys: KeyCache = field(default_factory=KeyCache)
    denials: Denials = field(default_factory=Denials)
    rules: Rules = field(default_factory=Rules)
    loads: Measured[Loads] = field(default_factory=Measured)
    """How many workers queues need, as it was asked lately."""
    doctor: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the one round of checks that goes on."""
    examined: dict[tuple[str, ...], tuple[float, Report]] = field(default_factory=dict)
    """What the last one looked at, when it ended (monotonic), and what it found: for those who waited for it."""

    @property
    def schema(self) -> str:
        """The PostgreSQL schema."""
        return self.settings.schema_name

    async def denied(
        self, principal: Principal, action: str, detail: str, request_id: str | None, target: str | None
    ) -> None:
        """Writes into the audit log that something was denied, at most once a minute for an actor and action."""
        left_out = self.denials.due(principal, action)
        if left_out is None:
            return
        row = deny(
            principal,
            action,
            target_kind="request",
            target=target,
            after={"left_out": left_out} if left_out else None,
            reason=detail,
            request_id=request_id,
            schema=self.schema,
        )
        async with self.pool.connection() as conn:
            await arun(conn, row)
