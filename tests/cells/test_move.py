"""A tenant goes from cell to cell with all that it has; killed at any point, the move goes on or is taken back."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest

from postmill import bind
from postmill.cells import moves
from postmill.client import flows
from postmill.domain.errors import InvalidValue, TenantMoved, TenantMoving
from postmill.domain.job import NewJob
from postmill.store.carrying import carried_tables
from postmill.store.cells import Move
from tests.cells.conftest import Conn, Two, enqueue, tickets
from tests.support.invariants import invariants

STEPS = (
    "prepare",
    "copy",
    "copy slice",
    "round",
    "drain",
    "draining",
    "switch",
    "closed",
    "filled",
    "flip",
    "open",
)
AFTER = ("opening", "clean", "clean table")


def fill(two: Two) -> dict[str, Any]:
    """Something of everything in cell a, of both tenants; returns what is to be found again."""
    a, acme = two.a, two.acme
    made = {
        "ready": enqueue(a, acme),
        "scheduled": enqueue(a, acme, delay="1 hour"),
        "keyed": enqueue(a, acme, key="k1"),
        "urgent": enqueue(a, acme, priority=1),
        "other": enqueue(a, two.other),
    }
    dead = enqueue(a, acme)
    a.execute("delete from postmill.ready where id = %s", [dead])
    a.execute(
        "insert into postmill.dead_letter (id, tenant_id, queue, lane, priority, attempt, run, lost, reason, failed_at,"
        " last_attempt_at, attempts) values (%s, %s, 'default', %s, 100, 1, 1, 0, 'permanent_error', now(), now(), 1)",
        [dead, acme, acme],
    )
    done = enqueue(a, acme)
    a.execute("delete from postmill.ready where id = %s", [done])
    a.execute(
        "insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost)"
        " values (%s, %s, 'succeeded', now(), 1, 1, 0)",
        [done, acme],
    )
    a.execute(
        "insert into postmill.trigger (tenant_id, label, trigger_type, cron_expr, timezone, definition_id)"
        " select %s, 'nightly', 'schedule', '0 3 * * *', 'UTC', d.id from postmill.job_definition d where d.key = 'work'",
        [acme],
    )
    a.execute("insert into postmill.project (tenant_id, slug, name) values (%s, 'web', 'Web')", [acme])
    a.execute(MORE.replace("ACME", str(acme)).replace("DONE", str(done)).encode())
    return made | {"dead": dead, "done": done, "counts": counted(a, acme)}


MORE = """
insert into postmill.saved_view (tenant_id, page, name, query, actor_type, created_at)
    values ('ACME', 'jobs', 'Mine', 'state:failed', 'user', now());
insert into postmill.limit_rule (name, key, tenant_id, max_running, edited, updated_at)
    values ('tenant:acme', postmill.new_id(), 'ACME', 3, true, now());
insert into postmill.artifact (id, tenant_id, job_id, name, content_type, size, sha256, attempt, created_at, expires_at)
    values (postmill.new_id(), 'ACME', 'DONE', 'a.txt', 'text/plain', 1, sha256('a'), 1, now(), now() + interval '1 day');
insert into postmill.job_tag (job_id, tag, tenant_id) values ('DONE', 'urgent', 'ACME');
insert into postmill.budget (name, tenant_id, period, timezone, unit, limit_amount, created_at, updated_at)
    values ('llm', 'ACME', 'month', 'UTC', 'usd', 10, now(), now());
insert into postmill.budget_balance (budget_id, starts_at, seq, tenant_id, spent, reserved, calls, tokens_in, tokens_out)
    select id, date_trunc('month', now()), 1, 'ACME', 2.50, 0, 1, 1, 1 from postmill.budget where name = 'llm';
insert into postmill.operation (id, tenant_id, kind, status, stage, filter, total, actor_type, created_at, ended_at)
    values (postmill.new_id(), 'ACME', 'replay', 'finished', 'rest', '{}', 1, 'user', now(), now());
insert into postmill.operation_item (operation_id, n, job_id, tenant_id)
    select id, 1, 'DONE', 'ACME' from postmill.operation;
select postmill.raise_incident('job_exhausted', 'work', 'warning', 'work fails', '{}', 'ACME', 'default', 'work', 'DONE');
insert into postmill.rollup (minute, tenant_id, queue, job_type, outcome, n, run_hist)
    values (date_trunc('minute', now()), 'ACME', 'default', 'work', 'succeeded', 3, array[1, 2]);
"""
CHANGING = ("scheduled", "audit_log", "rollup", "rollup_hour")


def counted(conn: Conn, tenant: UUID) -> dict[str, int]:
    """How many rows of a tenant each table has that a move carries and takes away."""
    found = {}
    for table in bind.run(conn, carried_tables()):
        if table.how not in ("missing", "kept") and table.name not in CHANGING:
            (mine,) = conn.execute(
                "select postmill.rows_of(%s, %s, null, null)", [table.name, tenant]
            ).fetchone() or ("",)
            row = conn.execute(f"select count(*) from postmill.{table.name} where {mine}".encode()).fetchone()
            found[table.name] = row[0] if row else 0
    return found


def there(two: Two, made: dict[str, Any]) -> None:
    """All of acme is in b, nothing of it in a, and the other tenant is untouched."""
    a, b, acme = two.a, two.b, two.acme
    assert tickets(b, acme) == {
        "ready": {made["ready"], made["keyed"], made["urgent"]},
        "scheduled": {made["scheduled"]},
        "dead_letter": {made["dead"]},
    }
    assert tickets(a, acme) == {}
    assert tickets(a, two.other) == {"ready": {made["other"]}}
    assert counted(b, acme) == made["counts"]
    assert sum(counted(a, acme).values()) == 0
    assert sum(made["counts"].values()) > 20
    assert (b.execute("select spent from postmill.budget_balance").fetchone(),) == ((Decimal("2.50"),),)
    rows = b.execute(
        "select d.key from postmill.trigger t join postmill.job_definition d on d.id = t.definition_id"
    )
    assert [row[0] for row in rows] == ["work"]
    assert enqueue(b, acme, key="k1") == made["keyed"]
    with pytest.raises(TenantMoved) as gone:
        bind.drive(a, flows.enqueue("postmill", NewJob("work", b"{}", tenant_id=acme)))
    assert gone.value.cell == "b"
    (later,) = b.execute(
        "select run_at < now() + interval '2 hours' from postmill.scheduled where id = %s",
        [made["scheduled"]],
    )
    assert later[0]
    invariants(a)
    invariants(b)


def killed_at(two: Two, move: UUID, point: str) -> None:
    """A mover in a process of its own, killed where it comes to that point. One that gives up on a busy machine is begun anew."""
    for _ in range(3):
        status = _mover(two, move, point)
        if os.waitstatus_to_exitcode(status) == -signal.SIGKILL:
            return
    pytest.fail(f"no mover came to {point}: {status}")


def _mover(two: Two, move: UUID, point: str) -> int:
    child = os.fork()
    if child == 0:
        try:
            moves.resume(
                two.cells,
                move,
                linger=0.0,
                before=lambda step: os.kill(os.getpid(), signal.SIGKILL) if step == point else None,
            )
        finally:
            os._exit(3)
    return os.waitpid(child, 0)[1]


def test_a_mover_is_killed_at_each_step_and_another_one_goes_on(two: Two) -> None:
    made = fill(two)
    found = moves.look(two.cells, "acme", "b")
    assert (found.jobs, found.dead_letters, found.triggers, found.blockers) == (6, 1, 1, [])
    assert found.definitions == ["jot", "work"]
    move = moves.begin(two.cells, "acme", "b", actor="ops")
    for point in (*STEPS, *AFTER):
        killed_at(two, move, point)
        if point == "closed":
            with pytest.raises(TenantMoving):
                bind.drive(two.a, flows.enqueue("postmill", NewJob("work", b"{}", tenant_id=two.acme)))
            assert enqueue(two.a, two.other) is not None
            two.a.execute(
                "delete from postmill.job where tenant_id = %s and id <> %s", [two.other, made["other"]]
            )
            two.a.execute(
                "delete from postmill.ready where lane = %s and id <> %s", [two.other, made["other"]]
            )
    ended = moves.resume(two.cells, move, linger=0.0)
    assert (ended.status, ended.step) == ("done", "done")
    assert ended.closed_seconds is not None
    there(two, made)


def test_a_move_is_taken_back(two: Two) -> None:
    taken_back(two, ("copy slice", "filled"))


@pytest.mark.long
def test_a_move_is_taken_back_from_each_step(two: Two) -> None:
    taken_back(two, STEPS[1:-1])


def taken_back(two: Two, points: Sequence[str]) -> None:
    """Moves that are killed at those points and aborted leave no trace; the next ones go there, and home again."""
    made = fill(two)
    before = tickets(two.a, two.acme)
    for point in points:
        move = moves.begin(two.cells, "acme", "b", actor="ops")
        killed_at(two, move, point)
        ended = moves.abort(two.cells, move, actor="ops")
        assert ended.status == "aborted"
        assert tickets(two.a, two.acme) == before, point
        assert tickets(two.b, two.acme) == {}
        assert two.b.execute("select count(*) from postmill.tenant where slug = 'acme'").fetchone() == (0,)
        enqueue_and_forget(two.a, two.acme)
    for conn in (two.a, two.b):
        assert conn.execute("select gated from postmill.partition_horizon").fetchone() == (False,)
        invariants(conn)
    move = moves.begin(two.cells, "acme", "b", actor="ops")
    killed_at(two, move, "open")
    with pytest.raises(InvalidValue, match="can only go on"):
        moves.abort(two.cells, move, actor="ops")
    seen: list[Move] = []
    moves.resume(two.cells, move, told=seen.append, linger=0.0)
    assert seen[-1].status == "done"
    there(two, made)
    # And home again.
    back = moves.begin(two.cells, "acme", "a", actor="ops")
    moves.resume(two.cells, back, linger=0.0)
    assert tickets(two.a, two.acme) == before
    assert tickets(two.b, two.acme) == {}
    invariants(two.a)
    invariants(two.b)


def enqueue_and_forget(conn: psycopg.Connection[Any], tenant: UUID) -> None:
    """One job comes in, and is as if it had never been."""
    with conn.transaction(force_rollback=True):
        enqueue(conn, tenant)
