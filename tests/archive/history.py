"""History of some weeks ago: jobs in every state, of several tenants, with payloads that are hard to write down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg import Connection

from tests.support import sessions
from tests.support.sessions import WorkerSession, rows

ODD = (
    '{"n": 123456789012345678901234567890.12345678901234567890, "big": 1e400, "text": "\\u00e9\\n\\"\\u2603", "none": null,'
    ' "deep": [[], {}, [{"a": [true, false]}]]}'
)
"""Beyond what a float holds, and with all that JSON escapes."""


@dataclass
class History:
    """Ids by what became of the jobs; `waiting` is due in a year."""

    ids: dict[str, list[UUID]] = field(default_factory=dict)
    waiting: UUID | None = None


def tenant(conn: Connection[Any], slug: str) -> UUID:
    """A tenant, made where there is none."""
    rows = conn.execute(
        """insert into postmill.tenant (id, slug, name) values (postmill.new_id(), %s, 'T')
           on conflict (slug) do update set slug = excluded.slug returning id""",
        [slug],
    ).fetchall()
    return UUID(str(rows[0][0]))


def made(conn: Connection[Any], ago: str, tenants: list[UUID], *, each: int = 2) -> History:
    """`each` jobs of each tenant for each end, one of them retried before; and one that still waits."""
    conn.execute("""select * from postmill.register_job_types('[{"key": "plain"}, {"key": "other"}]')""")
    found = History()
    with sessions.shifted(conn, f"-{ago}"):
        sessions.one(conn, "select postmill.ensure_partitions(postmill.now())")
        worker = WorkerSession(conn)
        found.waiting = UUID(str(sessions.one(conn, "select postmill.enqueue('plain', delay => '365 days')")))
        for end in ("succeeded", "failed", "canceled", "dead_letter"):
            for owner in tenants:
                for n in range(each):
                    conn.execute(
                        "select postmill.enqueue(%s, %s, tenant => %s)",
                        ["other" if n else "plain", ODD, owner],
                    )
            if end == "failed":
                sessions.put_back(conn, worker.claim(), "failed", 0.0, "E")
                sessions.promote(conn)
            held = worker.claim()
            assert len(held) == each * len(tenants)
            match end:
                case "succeeded":
                    sessions.complete(conn, held, '{"said": 1.10}')
                case "dead_letter":
                    sessions.bury(conn, held)
                case _:
                    sessions.finish(conn, held, end)
            found.ids[end] = [one.id for one in held]
            conn.execute(
                "select postmill.keep_tags(%s, %s, %s)", [held[0].id, held[0].tenant, '["late", "vip\u2603"]']
            )
    return found


def tables(conn: Connection[Any]) -> dict[str, int]:
    """How many rows history has."""
    names = ("job", "job_kept", "attempt", "outcome", "dead_letter", "leaving")
    return {name: sessions.one(conn, f"select count(*) from postmill.{name}") for name in names}


__all__ = ["ODD", "History", "made", "rows", "tables", "tenant"]
