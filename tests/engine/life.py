"""The rules of the state machine test: each does a verb in the database and in the model, and compares the answers."""

from __future__ import annotations

from typing import Any, LiteralString
from uuid import UUID, uuid4

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from psycopg import Connection

from postmill.operate import invariants
from tests.engine.job_model import LEASE, LIVE, WAITING, WINDOW, Fence, Job, Key, KeyId, Model
from tests.engine.job_reports import HOW, reported
from tests.support import sessions
from tests.support.sessions import Held, WorkerSession, rows

TENANTS = [UUID(int=1), UUID(int=2)]
REGISTER = """select * from postmill.register_job_types('[
    {"key": "plain", "max_attempts": 3}, {"key": "strict", "max_attempts": 2, "on_exhausted": "fail"}]')"""
FACTS = """
    select jsonb_object_agg(x.id, x.facts) from (
        select id, jsonb_build_array('ready', attempt, run, lost) as facts from postmill.ready
        union all select id, jsonb_build_array('scheduled', attempt, run, lost) from postmill.scheduled
        union all select id, jsonb_build_array('running', attempt, run, lost, holder, claim_no) from postmill.running
        union all select id, jsonb_build_array('dead_letter', attempt, run, lost) from postmill.dead_letter
        union all select job_id, jsonb_build_array(status, attempt, run, lost) from postmill.outcome) x"""
MODES = ["active", "queued", "window", "ttl"]
Order = tuple[str, UUID, str | None, str, int, int]
an_order = st.tuples(
    *map(
        st.sampled_from,
        (["plain", "plain", "strict"], TENANTS, [None, "a", "b"], MODES, [0, 0, 1], [100, 100, 5]),
    )
)
a_few = st.lists(st.integers(0, 30), min_size=1, max_size=4)


class Life(RuleBasedStateMachine):
    conn: Connection[Any]
    caller: Connection[Any]
    set_up: LiteralString = REGISTER

    @initialize(orders=st.lists(an_order, min_size=1, max_size=8))
    def begin(self, orders: list[Order]) -> None:
        for conn in (self.conn, self.caller):
            conn.execute("set synchronous_commit = off; set postmill.clock_offset = '0'")
        sessions.wipe(self.conn)
        self.conn.execute(self.set_up)
        self.model = Model()
        self.rescuer = WorkerSession(self.conn, lease=LEASE * 3600, age=LEASE * 3600 + 60)
        self.conn.execute("update postmill.lease set expires_at = 'infinity'")
        self.workers: list[WorkerSession] = []
        self.fences: list[Held] = []
        self.opened: dict[UUID, Job] | None = None
        self.opened_keys: dict[KeyId, Key] = {}
        for _ in range(2):
            self._open(WorkerSession(self.conn, lease=LEASE * 3600))
        for asked in orders:
            self.enqueue(asked, False)

    def teardown(self) -> None:
        if getattr(self, "opened", None) is not None:
            self.caller.execute("rollback")

    def _open(self, worker: WorkerSession) -> None:
        self.workers.append(worker)
        self.model.leases[worker.holder] = self.model.now + LEASE

    # Producing

    @rule(asked=an_order, inside=st.booleans())
    def enqueue(self, asked: Order, inside: bool) -> None:
        """In autocommit or, where one is open, in the caller's transaction."""
        job_type, tenant, key, mode, delay, priority = asked
        inside = inside and self.opened is not None
        conn = self.caller if inside else self.conn
        ((id, status),) = conn.execute(
            """select id, status from postmill.enqueue_many(
                   array[%s], '{"{}"}', array[%s::uuid], array[%s], array[%s], array[%s * interval '1 hour'], array[%s],
                   array[%s * interval '1 hour'], p_wait => '1 ms')""",
            (job_type, tenant, key, mode, WINDOW, priority, delay),
        ).fetchall()
        model = self.model
        jobs = model.jobs if not inside or self.opened is None else model.jobs | self.opened
        if key is not None:
            slot = (tenant, key)
            if not inside and slot in self.opened_keys:
                assert (id, status) == (None, "busy")
                return
            keys = model.keys | self.opened_keys if inside else model.keys
            held = keys.get(slot)
            if held is not None:
                held = Key(held.job_id, held.job_type, held.mode, model.now, held.expires)
                if model.is_live_key(held, jobs):
                    assert (id, status) == (
                        held.job_id,
                        "duplicate" if held.job_type == job_type else "other_type",
                    )
                    if inside and held.mode == "queued":
                        model.locked.add(held.job_id)
                else:
                    held = None
            if held is None:
                held = Key.of(id, job_type, mode, model.now)
            (self.opened_keys if inside else model.keys)[slot] = held
            if held.job_id != id or status != "created":
                return
        assert status == "created"
        place, order = ("scheduled", model.after(delay)) if delay else ("ready", model.moment())
        made = Job(id, job_type, tenant, key, priority, place, order)
        (self.opened if inside and self.opened is not None else model.jobs)[id] = made

    @rule(which=st.integers(0, 30), mode=st.sampled_from(MODES), inside=st.booleans())
    def enqueue_again(self, which: int, mode: str, inside: bool) -> None:
        """Under the key of a job that is known."""
        keyed = [job for job in self.model.jobs.values() if job.key is not None]
        if keyed:
            job = keyed[-1 - which % len(keyed)]
            self.enqueue((job.job_type, job.tenant, job.key, mode, 0, 100), inside)

    @precondition(lambda self: self.opened is None)
    @rule()
    def open_transaction(self) -> None:
        self.caller.execute("begin")
        self.opened = {}

    @precondition(lambda self: self.opened is not None)
    @rule(commit=st.booleans())
    def end_transaction(self, commit: bool) -> None:
        self.caller.execute("commit" if commit else "rollback")
        if commit:
            self.model.jobs |= self.opened or {}
            self.model.keys |= self.opened_keys
        self.opened, self.opened_keys = None, {}
        self.model.locked.clear()
        self._set_clocks()  # A rollback took the caller's setting back.

    # Working

    @rule(who=st.integers(0, 1), lane=st.integers(0, 3), n=st.integers(1, 5))
    def claim(self, who: int, lane: int, n: int) -> None:
        worker = self.workers[-2 + who]
        lanes = worker.lanes()
        if not lanes:
            return
        _, which, priority = lanes[lane % len(lanes)]
        held = worker.claim(n, lanes=[("default", which, priority)])
        expected = self.model.claimable(which, priority, n) if self.model.is_alive(worker.holder) else []
        assert [line.id for line in held] == [job.id for job in expected]
        for line, job in zip(held, expected, strict=True):
            job.place, job.fence, job.run = "running", (line.holder, line.claim_no), job.run + 1
            assert (line.attempt, line.run, line.lost, line.job_type, line.tenant) == (
                job.attempt, job.run, job.lost, job.job_type, job.tenant
            )  # fmt: skip
        self.fences += held

    @precondition(lambda self: self.fences)
    @rule(which=a_few, how=st.sampled_from(HOW))
    def report(self, which: list[int], how: str) -> None:
        """Of fences old and new: what is not held under them any more is answered and left alone."""
        self._report([self.fences[-1 - n % len(self.fences)] for n in which], how)

    @rule(which=a_few)
    def report_late(self, which: list[int]) -> None:
        """Of jobs that run again by now, under fences that were theirs before: no verb does anything."""
        late = [line for line in self.fences if self._runs(line.id) and not self._holds(line)]
        for how in HOW if late else []:
            self._report([late[-1 - n % len(late)] for n in which], how)

    def _report(self, lines: list[Held], how: str) -> None:
        """All of one session, each job once."""
        picked = {line.id: line for line in lines if line.holder == lines[0].holder}
        held = [self.model.jobs[id] for id, line in picked.items() if self._holds(line)]
        missed = reported(self.conn, how, list(picked.values()))
        assert missed == picked.keys() - {job.id for job in held}
        self._follow(how, held)

    def _runs(self, id: UUID) -> bool:
        return self.model.jobs[id].place == "running"

    def _holds(self, line: Held) -> bool:
        fence: Fence = (line.holder, line.claim_no)
        return self.model.jobs[line.id].fence == fence

    def _follow(self, how: str, held: list[Job]) -> None:
        ends = {"complete": "succeeded", "fail": "failed", "cancel": "canceled", "bury": "dead_letter"}
        for job in held:
            job.attempts += how in ("retry", "retry-later", "snooze", "release", "bury")
            job.attempt += how in ("retry", "retry-later")
            job.run -= how in ("unstarted", "refuse")
            job.refused = job.refused or how == "refuse"
            if how in ends:
                job.end(ends[how])
            if how in ("fail", "cancel", "bury"):
                job.cancel = False
        if how in ("retry", "retry-later", "snooze"):
            self.model.later(held, 0 if how == "retry" else 1)
        elif how in ("release", "unstarted", "refuse"):
            self.model.ready_again(held)
        # Its handler has ended: a cancel request that it did not hear is met now.
        self.model.cancel([job.id for job in held if job.cancel and job.place in WAITING])

    @rule(which=a_few, hours=st.sampled_from([0, 4]), unwanted=st.booleans())
    def take_up_and_let_go(self, which: list[int], hours: int, unwanted: bool) -> None:
        """A claim and the report of what was claimed; or the worker's death in between, or somebody's cancel."""
        for n in which:
            if not self.model.is_alive(self.workers[-2 + n % 2].holder):
                self.open_anew(n % 2)
            self.claim(n % 2, n, 1 + n % 3)
            if unwanted:
                self._cancel(list({line.id for line in self.fences[-2:]}))
            if hours:
                self.time_goes_by(hours)
                self.rescue()
            elif self.fences:
                self.report([0, 1, 2], HOW[n % len(HOW)])
            self.promote()

    @rule(who=st.integers(0, 1))
    def renew(self, who: int) -> None:
        worker = self.workers[-2 + who]
        alive = self.model.is_alive(worker.holder)
        assert worker.renew() is alive
        if alive:
            self.model.leases[worker.holder] = self.model.now + LEASE

    @rule(who=st.integers(0, 1))
    def open_anew(self, who: int) -> None:
        """A successor, and the one before it closes its session: what it still holds is given back, at no cost."""
        old = self.workers.pop(-2 + who)
        rows(self.conn, "leases/close_session", old.holder, "{}")
        self.model.leases.pop(old.holder)
        back = [
            job for job in self.model.jobs.values() if job.fence is not None and job.fence[0] == old.holder
        ]
        back = [job for job in back if job.place == "running"]
        for job in back:
            job.run -= 1
        self.model.ready_again(back)
        self._open(WorkerSession(self.conn, lease=LEASE * 3600))

    # Upkeep

    @rule(hours=st.sampled_from([1, 1, 1, 4, 25]))
    def time_goes_by(self, hours: int) -> None:
        self.model.now += hours
        self._set_clocks()

    def _set_clocks(self) -> None:
        for conn in (self.conn, self.caller):
            conn.execute("select set_config('postmill.clock_offset', %s, false)", [f"{self.model.now} hours"])

    @rule()
    def promote(self) -> None:
        due = dict(self.conn.execute("select id, run_at from postmill.scheduled").fetchall())
        promoted = sessions.promote(self.conn)
        ready = self.conn.execute("select id, ready_at from postmill.ready").fetchall()
        assert promoted == len(self.model.promote({id for id, at in ready if at == due.get(id)}))

    @rule()
    def rescue(self) -> None:
        assert self.rescuer.rescue() == self.model.rescue()

    @rule()
    def sweep(self) -> None:
        rows(self.conn, "upkeep/sweep", 1000)
        rows(self.conn, "upkeep/sweep_keys", None, None, None, 1000)
        self.model.sweep(set(self.opened_keys))
        assert not [found for found in self._violations() if found.kind == "stale_cancel"]

    # Operating

    def _some(self, which: list[int]) -> list[UUID]:
        known = list(self.model.jobs)
        return list({known[-1 - n % len(known)] if known else uuid4() for n in which} | {uuid4()})

    @rule(which=a_few)
    def cancel(self, which: list[int]) -> None:
        self._cancel(self._some(which))

    def _cancel(self, ids: list[UUID]) -> None:
        found = rows(self.conn, "jobs/cancel_jobs", ids, "user", None, None)
        assert dict(found) == self.model.cancel(ids)

    @rule(which=a_few)
    def discard(self, which: list[int]) -> None:
        ids = self._some(which)
        found: dict[Any, Any] = dict(rows(self.conn, "jobs/discard_jobs", ids, "no"))
        for id in ids:
            job = self.model.jobs.get(id)
            open_letter = job is not None and job.place == "dead_letter" and not job.replays
            assert found[id] == ("unknown" if job is None else "discarded" if open_letter else "not_dead")
            if job is not None and open_letter:
                job.place = "failed"

    @rule(which=a_few, retry=st.booleans(), again=st.booleans())
    def rerun(self, which: list[int], retry: bool, again: bool) -> None:
        """An operator's replay, of what was replayed before too; or his retry, which first makes due what is scheduled."""
        ids = [id for id in self._some(which) if not self._key_is_locked(id)]
        due = []
        if retry:
            found = rows(self.conn, "jobs/retry_jobs", ids, "user", None, False)
            due = [id for id in ids if id not in self.model.locked and self._place(id) == "scheduled"]
            self.model.ready_again([self.model.jobs[id] for id in due])
        else:
            found = rows(
                self.conn, "jobs/replay_jobs", ids, "user", None, None, again, False, True, None, False
            )
        answers = self.last = {id: (status, new) for id, status, new in found}
        assert answers.keys() == set(ids)
        for id in sorted(ids):
            expected = ("due", None) if id in due else self._replayed(id, answers[id][1], again and not retry)
            assert answers[id] == expected

    def _place(self, id: UUID) -> str | None:
        return self.model.jobs[id].place if id in self.model.jobs else None

    def _key_is_locked(self, id: UUID) -> bool:
        job = self.model.jobs.get(id)
        return job is not None and job.key is not None and (job.tenant, job.key) in self.opened_keys

    def _replayed(self, id: UUID, new: UUID | None, again: bool) -> tuple[str, UUID | None]:
        model = self.model
        job = model.jobs.get(id)
        if job is None:
            return "unknown", None
        if job.place in LIVE:
            return ("running" if job.place == "running" else "waiting"), None
        if job.place == "succeeded":
            return "succeeded", None
        for replay in job.replays:
            if model.jobs[replay].place in LIVE:
                return "live", replay
        if job.replays and not again:
            return "already_replayed", job.replays[-1]
        if job.key is not None:
            slot = (job.tenant, job.key)
            held = model.keys.get(slot)
            if held is not None and held.job_id != id and model.is_live_key(held):
                held.seen = model.now
                return ("key_held" if held.job_type == job.job_type else "other_type"), held.job_id
            assert new is not None, self.last
            if held is not None and held.job_id == id:
                model.keys[slot] = Key(
                    new, held.job_type, held.mode, model.now, held.expires
                )  # it is re-pointed
            else:
                model.keys[slot] = Key.of(new, job.job_type, "active", model.now)
        assert new is not None
        model.jobs[new] = Job(new, job.job_type, job.tenant, job.key, job.priority, "ready", model.moment())
        job.replays.append(new)
        return "replayed", new

    # What must hold

    @invariant()
    def the_database_is_as_the_model(self) -> None:
        if not hasattr(self, "model"):
            return
        facts = sessions.one(self.conn, FACTS) or {}
        assert facts == {str(job.id): job.facts for job in self.model.jobs.values()}
        tried = "select job_id, count(*) from postmill.attempt group by 1"
        attempts = dict(self.conn.execute(tried).fetchall())
        assert attempts == {job.id: job.attempts for job in self.model.jobs.values() if job.attempts}
        asked = {id for (id,) in self.conn.execute("select job_id from postmill.cancel_request").fetchall()}
        assert asked == {job.id for job in self.model.jobs.values() if job.cancel}
        held = "select tenant_id, key, job_id, job_type, mode from postmill.idempotency_key"
        keys = self.conn.execute(held).fetchall()
        assert {(t, k): rest for t, k, *rest in keys} == {
            slot: [key.job_id, key.job_type, key.mode] for slot, key in self.model.keys.items()
        }

    @invariant()
    def no_invariant_is_broken(self) -> None:
        if hasattr(self, "model"):
            assert not [found for found in self._violations() if found.kind != "stale_cancel"]

    def _violations(self) -> list[invariants.Violation]:
        return invariants.check(self.conn, lease_seconds=1e9)


def machine(conn: Connection[Any], caller: Connection[Any]) -> type[Life]:
    """The machine on these two connections; `caller` is whose transaction stays open."""
    return type("Life", (Life,), {"conn": conn, "caller": caller})
