"""Every verb on a job in every state, against the real SQL: where the table of the life cycle has an entry the job goes
there; everywhere else nothing at all changes, and the answer says so. The set call proves law 6 on the way: the one
job to which the verb applies moves, although seven stand beside it to which it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from postmill.domain.lifecycle import ENTRY, LIVE, TRANSITIONS, State, Verb
from tests.contract.verbs import VERBS, VerbOnJobs, World
from tests.support import sessions
from tests.support.databases import Database
from tests.support.invariants import invariants

pytestmark = pytest.mark.matrix

# Parents and children come with workflows; until then nothing unblocks, and a promotion must not.
NOT_YET = {(Verb.PROMOTE, State.BLOCKED)}


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_verb_on_every_state(lasting: Connection[Any], verb: VerbOnJobs) -> None:
    for together in [True, False] if verb.takes_ids else [True]:
        sessions.wipe(lasting)
        _try(World(lasting), verb, together=together)


def _try(world: World, verb: VerbOnJobs, *, together: bool) -> None:
    jobs = {state: verb.prepare(world, state) for state in State}
    before = {state: world.everything_about(id) for state, id in jobs.items()}
    answers: dict[UUID, str] = {}
    for some in [list(jobs.values())] if together else [[id] for id in jobs.values()]:
        answers |= verb.run(world, some)
    assert world.states(jobs) == {state: expected(verb, state) for state in State}
    assert {state: answers.get(id) for state, id in jobs.items()} == verb.answers
    for state, id in jobs.items():
        if state not in verb.applies | verb.notes:
            assert world.everything_about(id) == before[state], f"{verb.name} touched a {state} job"
    invariants(world.conn, lease_seconds=1e9)


def expected(verb: VerbOnJobs, state: State) -> State | None:
    if state in verb.applies and (verb.verb, state) not in NOT_YET:
        return TRANSITIONS[verb.verb, state]
    return state


def test_every_entry_of_the_table_was_tried() -> None:
    tried = {(verb.verb, state) for verb in VERBS for state in verb.applies}
    assert tried | NOT_YET == set(TRANSITIONS)
    assert {verb.verb for verb in VERBS} | {Verb.ENQUEUE} == set(Verb)


def test_an_enqueue_under_the_key_of_a_job_in_every_state(database: Database) -> None:
    """A live job is the answer and stays as it is; one that has ended makes room for a new one, and stays too."""
    with database.connect() as conn:
        world = World(conn)
        jobs = {state: world.make(state, key=state) for state in State}
        before = {state: world.everything_about(id) for state, id in jobs.items()}
        found = conn.execute(
            "select n, id, status from postmill.enqueue_many(array_fill('plain'::text, '{8}'),"
            " array_fill('{}'::jsonb, '{8}'), p_keys => %s)",
            [list(jobs)],
        ).fetchall()
        by_state = {list(jobs)[n - 1]: (id, status) for n, id, status in found}
        for state, id in jobs.items():
            new, status = by_state[state]
            assert (status, new == id) == (("duplicate", True) if state in LIVE else ("created", False))
            assert world.everything_about(id) == before[state]
        invariants(conn, lease_seconds=1e9)


@pytest.mark.parametrize("verb", ["cancel", "operator's retry", "replay", "discard"])
def test_a_job_that_never_was(database: Database, verb: str) -> None:
    with database.connect() as conn:
        world = World(conn)
        waits, never = world.make(State.QUEUED), uuid4()
        (done,) = [known for known in VERBS if known.name == verb]
        assert done.run(world, [never, waits]) == {never: "unknown", waits: done.answers[State.QUEUED]}
        invariants(conn, lease_seconds=1e9)


def test_an_enqueue_enters_where_the_table_says(database: Database) -> None:
    with database.connect() as conn:
        world = World(conn)
        entered = {state: world.make(state) for state in ENTRY}
        assert world.states(entered) == {state: state for state in ENTRY}


def test_an_open_dead_letter_waits_for_its_operator_however_old(database: Database) -> None:
    """What the pruner takes of the dead letters are the closed ones: replayed, or discarded."""
    with database.connect() as conn:
        world = World(conn)
        id = world.make(State.DEAD_LETTER)
        world.prune()
        assert world.states({State.DEAD_LETTER: id}) == {State.DEAD_LETTER: State.DEAD_LETTER}
        assert conn.execute("select id from postmill.job_kept").fetchall() == [(id,)]
        invariants(conn, lease_seconds=1e9)


def test_an_operators_retry_of_an_ended_job_is_a_replay(database: Database) -> None:
    with database.connect() as conn:
        world = World(conn)
        ended = [world.make(state) for state in (State.FAILED, State.CANCELED, State.DEAD_LETTER)]
        answers = _rerun(world, ended)
        assert [status for status, _ in answers.values()] == ["replayed"] * 3
        for old, (_, new) in answers.items():
            assert world.one("select replayed_from from postmill.job where id = %s", new) == old
        again = _rerun(world, ended)
        assert again == {old: ("live", new) for old, (_, new) in answers.items()}
        invariants(conn, lease_seconds=1e9)


def _rerun(world: World, ids: Sequence[UUID]) -> dict[UUID, tuple[str, UUID]]:
    found = world.conn.execute("select * from postmill.retry_jobs(%s)", [list(ids)]).fetchall()
    return {id: (status, new) for id, status, new in found}
