"""Jobs in every state, made by the SQL functions that a worker calls."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection

SESSION = "select postmill.open_session(%s, 600, %s, 'host', 1, '1.0', %s, '{\"default\": 10}', %s, '{}')"
CLAIM = (
    "select c.id from postmill.tenant t cross join lateral postmill.claim("
    "%s, 1, 100, array[%s], array[t.id], array[100], array[null::timestamptz], array[100]) c"
)


class Stage:
    """One worker session, and jobs to play with."""

    def __init__(self, conn: Connection[Any]) -> None:
        self.conn = conn
        self.holder = uuid4()

    def open(self, *job_types: str, queue: str = "default", worker_id: str = "host:1:boot") -> None:
        """Open the session."""
        self.conn.execute(SESSION, (self.holder, worker_id, [queue], list(job_types)))

    def register(self, *names: str, queue: str = "default") -> None:
        """Job types by name."""
        for name in names:
            self.conn.execute(
                "select postmill.register_job_types(jsonb_build_array(jsonb_build_object("
                "'key', %s::text, 'queue', %s::text)))",
                (name, queue),
            )

    def enqueue(self, job_type: str, payload: str = "{}", delay: str | None = None) -> UUID:
        """One job."""
        row = self.conn.execute(
            "select postmill.enqueue(%s, %s::jsonb, delay => %s::interval)", (job_type, payload, delay)
        ).fetchone()
        assert row is not None
        return UUID(str(row[0]))

    def claim(self, queue: str = "default") -> list[UUID]:
        """Take everything that waits."""
        return [row[0] for row in self.conn.execute(CLAIM, (self.holder, queue)).fetchall()]

    def succeed(self, id: UUID, result: str | None = None) -> None:
        """A running job ends well."""
        self.conn.execute(
            "select postmill.complete(%s, array[%s], array[1::bigint], array[postmill_tenant.id], array[5000::bigint],"
            " array[%s::jsonb]) from postmill.tenant as postmill_tenant",
            (self.holder, id, result),
        )

    def bury(
        self,
        id: UUID,
        message: str = "no luck",
        stack: str = "Traceback …",
        *,
        reason: str = "max_retries_exceeded",
        error_class: str = "ValueError",
        outputs: tuple[str | None, str | None] = (None, None),
    ) -> None:
        """A running job is given up; `outputs` are the ends of what its process printed."""
        self.conn.execute(
            "select postmill.bury(%s, array[%s], array[1::bigint], array[t.id], array[5000::bigint], array['failed'],"
            " array[%s], array[%s], array[null], array[%s], array[null::int], array[%s], array[1], array[null::int],"
            " array[%s], array[%s]) from postmill.tenant as t",
            (self.holder, id, reason, error_class, message, stack, *outputs),
        )

    def retry_later(self, id: UUID, message: str = "try again") -> None:
        """A running job failed and waits for its next attempt."""
        self.conn.execute(
            "select postmill.put_back(%s, array[%s], array[1::bigint], array[t.id], array[5000::bigint],"
            " array['failed'], array[3600::float8], null, array['OSError'], array[null], array[%s])"
            " from postmill.tenant as t",
            (self.holder, id, message),
        )
