"""A job in every state, and every verb as something that can be done to a set of jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from postmill.domain.lifecycle import TRANSITIONS, State, Verb
from tests.support import sessions
from tests.support.sessions import Held, WorkerSession, rows

_TABLES = {
    "ready": "id", "scheduled": "id", "blocked": "id", "running": "id", "dead_letter": "id", "cancel_request": "job_id",
    "attempt": "job_id", "outcome": "job_id", "any_job": "id",
}  # fmt: skip


class World:
    """A database with one job type and one worker session (besides one that only rescues)."""

    def __init__(self, conn: Connection[Any]) -> None:
        self.conn = conn
        conn.execute("""select * from postmill.register_job_types('[{"key": "plain"}]')""")
        self.worker = WorkerSession(conn)
        self.rescuer = WorkerSession(conn, lease=30, age=100)
        self.fences: dict[UUID, Held] = {}

    def one(self, text: str, *args: Any) -> Any:
        return sessions.one(self.conn, text, *args)

    def make(self, state: State, key: str | None = None) -> UUID:
        """A job in this state, brought there by the verbs themselves."""
        delay = "1 hour" if state is State.SCHEDULED else None
        id = UUID(str(self.one("select postmill.enqueue('plain', key => %s, delay => %s)", key, delay)))
        if state is State.BLOCKED:
            self.conn.execute(
                """with gone as (delete from postmill.ready where id = %s returning *)
                   insert into postmill.blocked (id, queue, lane, priority, attempt, run, lost)
                   select id, queue, lane, priority, attempt, run, lost from gone""",
                [id],
            )
        elif state not in (State.SCHEDULED, State.QUEUED):
            held = self.fences[id] = next(line for line in self._claim_only(id) if line.id == id)
            _END[state](self.conn, [held])
        return id

    def _claim_only(self, id: UUID) -> list[Held]:
        """Whatever is ready beside it is hidden from this claim."""
        with self.conn.transaction():
            self.conn.execute(
                "create temp table hidden on commit drop as select * from postmill.ready where id <> %s", [id]
            )
            self.conn.execute("delete from postmill.ready where id <> %s", [id])
            held = self.worker.claim(1)
            self.conn.execute("insert into postmill.ready select * from hidden")
        return held

    def fence(self, id: UUID) -> Held:
        """The fence of a job's last claim; of one that never ran, a fence that nobody was given."""
        return self.fences.get(id) or Held(id, self.worker.holder, 4711)

    def states(self, jobs: Mapping[State, UUID]) -> dict[State, State | None]:
        found = sessions.states(self.conn, list(jobs.values()))
        return {state: State(found[id]) if id in found else None for state, id in jobs.items()}

    def everything_about(self, id: UUID) -> dict[str, Any]:
        """Each row of each table that speaks of the job."""
        return {
            table: self.one(
                f"select jsonb_agg(to_jsonb(t)) from postmill.{table} t where t.{column} = %s", id
            )
            for table, column in _TABLES.items()
        }

    def prune(self) -> None:
        """Every partition is past its retention."""
        with sessions.shifted(self.conn, "400 days"):
            while rows(self.conn, "upkeep/prune_partition"):
                pass
            rows(self.conn, "upkeep/prune_kept", 1000)


_END: dict[State, Callable[[Connection[Any], Sequence[Held]], object]] = {
    State.RUNNING: lambda conn, held: None,
    State.SUCCEEDED: lambda conn, held: sessions.complete(conn, held, '{"n": 1}'),
    State.FAILED: lambda conn, held: sessions.finish(conn, held, "failed"),
    State.CANCELED: lambda conn, held: sessions.finish(conn, held, "canceled"),
    State.DEAD_LETTER: sessions.bury,
}

Run = Callable[[World, list[UUID]], dict[UUID, str]]


@dataclass(frozen=True)
class VerbOnJobs:
    """One way to do a verb; it moves jobs in the states that it `applies` to. `answers`: what the call tells of a
    job in each state (None: nothing)."""

    name: str
    verb: Verb
    run: Run
    answers: dict[State, str | None]
    applies: frozenset[State]
    prepare: Callable[[World, State], UUID] = World.make
    notes: frozenset[State] = frozenset()
    """States in which rows change although the job stays where it is."""

    @property
    def takes_ids(self) -> bool:
        """Not a round or a claim, which find their jobs themselves."""
        return self.run not in (_promote, _claim, _renew, _rescue, _prune)


def _says(otherwise: str | None, **named: str | None) -> dict[State, str | None]:
    return dict.fromkeys(State, otherwise) | {State(name): said for name, said in named.items()}


def _sources(verb: Verb) -> frozenset[State]:
    return frozenset(state for known, state in TRANSITIONS if known is verb)


def _report(do: Callable[[Connection[Any], Sequence[Held]], set[UUID]]) -> Run:
    def run(world: World, ids: list[UUID]) -> dict[UUID, str]:
        missed = do(world.conn, [world.fence(id) for id in ids])
        return {id: "missed" if id in missed else "done" for id in ids}

    return run


def _promote(world: World, ids: list[UUID]) -> dict[UUID, str]:
    with sessions.shifted(world.conn, "2 hours"):
        sessions.promote(world.conn)
    return {}


def _claim(world: World, ids: list[UUID]) -> dict[UUID, str]:
    return {held.id: "claimed" for held in world.worker.claim()}


def _renew(world: World, ids: list[UUID]) -> dict[UUID, str]:
    assert world.worker.renew()
    return {}


def _rescue(world: World, ids: list[UUID]) -> dict[UUID, str]:
    world.worker.die()
    return world.rescuer.rescue()


def _by_operator(path: str, *more: str | None) -> Run:
    def run(world: World, ids: list[UUID]) -> dict[UUID, str]:
        return {row[0]: row[1] for row in rows(world.conn, path, ids, *more)}

    return run


def _cancel_and_stop(world: World, ids: list[UUID]) -> dict[UUID, str]:
    """The request, and then the worker's report that the handler has ended."""
    answers = _by_operator("jobs/cancel_jobs", "user", None, None)(world, ids)
    sessions.finish(world.conn, [world.fence(id) for id in ids], "canceled")
    return answers


def _closed_letter(world: World, state: State) -> UUID:
    """As `make`; a dead letter is one that was replayed, and so left the list of the open ones."""
    id = world.make(state)
    if state is State.DEAD_LETTER:
        new = rows(world.conn, "jobs/replay_jobs", [id], "user", None, None, False, False, True, None, False)[
            0
        ][2]
        rows(world.conn, "jobs/cancel_jobs", [new], "user", None, None)
    return id


def _prune(world: World, ids: list[UUID]) -> dict[UUID, str]:
    world.prune()
    return {}


def _by_its_worker(
    name: str, verb: Verb, do: Callable[[Connection[Any], Sequence[Held]], set[UUID]]
) -> VerbOnJobs:
    return VerbOnJobs(name, verb, _report(do), _says("missed", running="done"), frozenset({State.RUNNING}))


_CANCELED = _says(
    "finished", scheduled="canceled", queued="canceled", blocked="canceled", running="requested"
)
_RERUN = {"failed": "replayed", "canceled": "replayed", "dead_letter": "replayed", "running": "running"}

VERBS = [
    VerbOnJobs("promote", Verb.PROMOTE, _promote, _says(None), _sources(Verb.PROMOTE)),
    VerbOnJobs("claim", Verb.CLAIM, _claim, _says(None, queued="claimed"), _sources(Verb.CLAIM)),
    VerbOnJobs("renew", Verb.RENEW, _renew, _says(None), _sources(Verb.RENEW)),
    _by_its_worker("complete", Verb.COMPLETE, sessions.complete),
    _by_its_worker("retry", Verb.RETRY, lambda conn, held: sessions.put_back(conn, held, "failed", 60.0, "E")),
    _by_its_worker("retry at once", Verb.RETRY, lambda conn, held: sessions.put_back(conn, held, "timeout", 0.0)),
    _by_its_worker("snooze", Verb.SNOOZE, lambda conn, held: sessions.put_back(conn, held, "snoozed", 60.0)),
    _by_its_worker("release", Verb.RELEASE, lambda conn, held: sessions.put_back(conn, held, "interrupted", -1.0)),
    _by_its_worker("release unstarted", Verb.RELEASE, lambda conn, held: sessions.put_back(conn, held, None, -1.0)),
    _by_its_worker("refuse", Verb.RELEASE, sessions.refuse),
    _by_its_worker("fail", Verb.FAIL, lambda conn, held: sessions.finish(conn, held, "failed")),
    _by_its_worker("bury", Verb.BURY, sessions.bury),
    VerbOnJobs("cancel", Verb.CANCEL, _cancel_and_stop, _CANCELED, _sources(Verb.CANCEL)),
    VerbOnJobs(
        "cancel request", Verb.CANCEL, _by_operator("jobs/cancel_jobs", "user", None, None), _CANCELED,
        _sources(Verb.CANCEL) - {State.RUNNING}, notes=frozenset({State.RUNNING}),
    ),
    VerbOnJobs(
        "operator's retry", Verb.RETRY, _by_operator("jobs/retry_jobs", "user", None, False),
        _says("waiting", scheduled="due", succeeded="succeeded", **_RERUN), frozenset({State.SCHEDULED}),
        notes=frozenset({State.DEAD_LETTER}),  # it is replayed, and so its letter is closed
    ),
    VerbOnJobs("rescue", Verb.RESCUE, _rescue, _says(None, running="scheduled"), _sources(Verb.RESCUE)),
    VerbOnJobs(
        "replay", Verb.REPLAY, _by_operator("jobs/replay_jobs", "user", None, None, False, False, True, None, False),
        _says("waiting", succeeded="succeeded", **_RERUN), _sources(Verb.REPLAY),
    ),
    VerbOnJobs(
        "discard", Verb.DISCARD, _by_operator("jobs/discard_jobs", "not worth it"),
        _says("not_dead", dead_letter="discarded"), _sources(Verb.DISCARD),
    ),
    VerbOnJobs("prune", Verb.PRUNE, _prune, _says(None), _sources(Verb.PRUNE), _closed_letter),
]  # fmt: skip
