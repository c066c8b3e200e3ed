"""A worker session driven by hand: every verb is the engine's own statement, on a connection of the test's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection, RawCursor

from postmill.store.catalog import sql

DEFAULT_TENANT = UUID(int=1)
Rows = list[tuple[Any, ...]]


def rows(conn: Connection[Any], path: str, *args: Any) -> Rows:
    """What `sql/<path>.sql` answers."""
    cursor = RawCursor(conn)
    cursor.execute(sql(path, "postmill").encode(), args)
    return cursor.fetchall() if cursor.description else []


def one(conn: Connection[Any], text: str, *args: Any) -> Any:
    """The first row of a query; of a row with one column its value."""
    row = conn.execute(text.encode(), args).fetchone()
    return row[0] if row is not None and len(row) == 1 else row


@contextmanager
def shifted(conn: Connection[Any], offset: str) -> Iterator[None]:
    """This connection's clock goes wrong (or ahead) by an interval such as `2 hours`."""
    before = one(conn, "select coalesce(current_setting('postmill.clock_offset', true), '')")
    conn.execute("select set_config('postmill.clock_offset', %s, false)", [offset])
    yield
    conn.execute("select set_config('postmill.clock_offset', %s, false)", [before])


@dataclass(frozen=True)
class Held:
    """One claimed ticket, with its fence."""

    id: UUID
    holder: UUID
    claim_no: int
    attempt: int = 1
    run: int = 1
    lost: int = 0
    job_type: str | None = None
    tenant: UUID = DEFAULT_TENANT
    ready_at: Any = None
    workflow: UUID | None = None


class WorkerSession:
    """A lease, and what can be done under it. `age` (seconds) makes it an old session."""

    def __init__(self, conn: Connection[Any], *, lease: float = 60.0, age: float = 0.0) -> None:
        self.conn = conn
        self.lease = lease
        self.holder = uuid4()
        self.claim_no = 0
        args: tuple[Any, ...] = (
            self.holder, lease + age, "test", "host", 1, "", ["default"], "{}", [], "{}", None
        )  # fmt: skip
        if age:
            with shifted(conn, f"-{age} s"):
                rows(conn, "leases/open_session", *args)
        else:
            rows(conn, "leases/open_session", *args)

    def lanes(self) -> Rows:
        """(queue, lane, priority) with work, as a discovery finds them."""
        return rows(self.conn, "claim/discover_lanes", ["default"], 1000)

    def claim(self, n: int = 100, *, lanes: Rows | None = None, start: Any = None) -> list[Held]:
        """Up to `n` tickets from `lanes` (default: all that have work), from the head or from a cursor."""
        lanes = self.lanes() if lanes is None else lanes
        if not lanes:
            return []
        self.claim_no += 1
        found = self.conn.execute(
            """select id, attempt, run, lost, job_type, tenant_id, ready_at, workflow_id
                 from postmill.claim(%s, %s, %s, %s, %s, %s, %s::timestamptz[], %s, true)""",
            (
                self.holder, self.claim_no, n, [row[0] for row in lanes], [row[1] for row in lanes],
                [row[2] for row in lanes], [start] * len(lanes), [n] * len(lanes),
            ),
        ).fetchall()  # fmt: skip
        # A body that left its partition is read elsewhere, and so is its tenant: the reports take the default's then.
        return [
            Held(
                id,
                self.holder,
                self.claim_no,
                attempt,
                run,
                lost,
                job_type,
                tenant or DEFAULT_TENANT,
                at,
                flow,
            )
            for id, attempt, run, lost, job_type, tenant, at, flow in found
        ]

    def renew(self) -> bool:
        return bool(rows(self.conn, "leases/renew", self.holder, self.lease, 0, False)[0][0])

    def die(self) -> None:
        """The lease is over."""
        self.conn.execute(
            "update postmill.lease set expires_at = postmill.now() - interval '1 ms' where holder = %s",
            [self.holder],
        )

    def rescue(self, *, lease: float | None = None, most: int = 1000) -> dict[UUID, str]:
        """Id to verdict of what dead sessions held; this session must be older than `lease`."""
        found = self.conn.execute(
            "select id, verdict from postmill.rescue(%s, %s, 0, %s)",
            (self.holder, self.lease if lease is None else lease, most),
        ).fetchall()
        return dict(found)


_OF_JOBS = (
    "ready", "scheduled", "blocked", "running", "dead_letter", "cancel_request", "attempt", "outcome", "job", "job_kept",
    "idempotency_key", "tally", "progress", "lease", "worker", "sleeper", "workflow", "workflow_step", "workflow_edge",
    "workflow_inbox", "seat", "refused_type",
)  # fmt: skip


def wipe(conn: Connection[Any]) -> None:
    """No job and no session was ever here; job types, queues and partitions stay. Cheaper than a new database."""
    conn.execute("; ".join(f"delete from postmill.{table}" for table in _OF_JOBS))


def _head(held: Sequence[Held]) -> list[Any]:
    holders = {line.holder for line in held}
    assert len(holders) == 1, "one report is one session's"
    ids, numbers = [line.id for line in held], [line.claim_no for line in held]
    return [holders.pop(), ids, numbers, [line.tenant for line in held], [1000] * len(held)]


def complete(conn: Connection[Any], held: Sequence[Held], result: str | None = None) -> set[UUID]:
    """The ids that the report did not touch; the same of all below."""
    missed = rows(
        conn, "report/complete", *_head(held), [result] * len(held), None, [line.workflow for line in held]
    )
    return {row[0] for row in missed}


def put_back(
    conn: Connection[Any], held: Sequence[Held], status: str | None, delay: float, error: str | None = None
) -> set[UUID]:
    """`failed`/`timeout` is a retry, `snoozed` a snooze; a negative delay a release (None: never started)."""
    n = len(held)
    missed = rows(
        conn, "report/put_back", *_head(held), [status] * n, [delay] * n, [0] * n, [error] * n,
        *[[None] * n for _ in range(9)],
    )  # fmt: skip
    return {row[0] for row in missed}


def refuse(conn: Connection[Any], held: Sequence[Held]) -> set[UUID]:
    """Their types are not known to the session."""
    missed = rows(conn, "report/refuse", *_head(held)[:3], [line.job_type for line in held])
    return {row[0] for row in missed}


def finish(conn: Connection[Any], held: Sequence[Held], status: str, reason: str = "test") -> set[UUID]:
    """`failed` or `canceled`."""
    n = len(held)
    missed = rows(
        conn, "report/finish", *_head(held), [status] * n, [status] * n, [reason] * n,
        *[[None] * n for _ in range(10)],
    )  # fmt: skip
    return {row[0] for row in missed}


def bury(conn: Connection[Any], held: Sequence[Held], reason: str = "permanent_error") -> set[UUID]:
    n = len(held)
    missed = rows(
        conn, "report/bury", *_head(held), ["failed"] * n, [reason] * n, *[[None] * n for _ in range(10)]
    )  # fmt: skip
    return {row[0] for row in missed}


def promote(conn: Connection[Any]) -> int:
    """One round; how many tickets became ready."""
    return sum(row[3] for row in rows(conn, "upkeep/promote", None, 500, 5000))


def states(conn: Connection[Any], ids: Sequence[UUID]) -> dict[UUID, str]:
    """Where jobs are, in the words of the life cycle; a job that is gone is not in it."""
    found = conn.execute("select id, state from postmill.job_state(%s)", [list(ids)]).fetchall()
    return dict(found)
