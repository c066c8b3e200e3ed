"""Jobs of a tenant in a state, made by the functions that a worker calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from psycopg import AsyncConnection

ERROR = "'{ValueError}', '{E1}', '{broken}', '{500}'"

REPORTS = {
    "succeeded": ("complete", "'{5000}', array['{\"said\": \"hello\"}']::jsonb[]"),
    "failed": ("finish", f"'{{5000}}', '{{failed}}', '{{failed}}', '{{permanent_error}}', {ERROR}"),
    "canceled": ("finish", "'{5000}', '{canceled}', '{canceled}', '{canceled}'"),
    "dead_letter": ("bury", f"'{{5000}}', '{{failed}}', '{{max_retries_exceeded}}', {ERROR}"),
}


@dataclass
class StateMaker:
    """One worker session by hand, with a lease of an hour."""

    conn: AsyncConnection[Any]
    tenant: UUID
    holder: UUID
    claims: int = 0

    @classmethod
    async def begin(cls, conn: AsyncConnection[Any], tenant: UUID) -> StateMaker:
        """Opens the session; it serves no type."""
        holder = uuid4()
        await conn.execute(
            "select postmill.open_session(%s, 3600, 'w1', 'host', 7, '1', '{default}', '{}', '{}', '{}')",
            [holder],
        )
        return cls(conn, tenant, holder)

    async def queued(self, job_type: str = "plain", **options: Any) -> UUID:
        """A job that waits."""
        return await self._enqueue(job_type, "interval '0'")

    async def scheduled(self, job_type: str = "plain") -> UUID:
        """A job that is due in an hour."""
        return await self._enqueue(job_type, "interval '1 hour'")

    async def running(self, job_type: str = "plain") -> UUID:
        """A job that this session has claimed."""
        id = await self.queued(job_type)
        await self._claim(id)
        return id

    async def ended(self, state: str, job_type: str = "plain") -> UUID:
        """A job that has ended so."""
        id = await self.running(job_type)
        function, rest = REPORTS[state]
        text = f"select * from postmill.{function}(%s, %s, %s, %s, {rest})"
        cursor = await self.conn.execute(text.encode(), [self.holder, [id], [self.claims], [self.tenant]])
        assert await cursor.fetchall() == []
        return id

    async def _enqueue(self, job_type: str, delay: str) -> UUID:
        text = f"""select postmill.enqueue(%s, '{{"n": 1}}', %s, delay => {delay})"""
        row = await (await self.conn.execute(text.encode(), [job_type, self.tenant])).fetchone()
        assert row is not None
        id: UUID = row[0]
        return id

    async def _claim(self, id: UUID) -> None:
        self.claims += 1
        # Straight into its place: a claim would take what comes first in the lane.
        await self.conn.execute(
            """with r as (delete from postmill.ready where id = %s returning *)
               insert into postmill.running (id, holder, claim_no, queue, lane, priority, attempt, run, lost, claimed_at)
               select id, %s, %s, queue, lane, priority, attempt, run + 1, lost, postmill.now() from r""",
            [id, self.holder, self.claims],
        )
