"""Names under which queues show their dead letters: nothing moves, and whoever asks by the name finds them all."""

from __future__ import annotations

import json

import pytest

from postmill.bind import drive, run
from postmill.domain.errors import DefinitionError, UnknownQueue
from postmill.domain.job_type import job
from postmill.domain.letters import LetterFilter
from postmill.domain.lifecycle import State
from postmill.domain.queue import Queue
from postmill.domain.registry import Registry
from postmill.operate import insight, operations
from postmill.store.dead import read_dead_letter, read_dead_letters
from postmill.store.dead_groups import read_dead_groups
from postmill.store.queues import register_queues
from postmill.store.registration import register_job_types
from tests.operate.conftest import Bench

NAME = "q:deadletter"
MAIL, PLAN = (Queue(name, dead_letters_as=NAME) for name in ("q:mail", "q:plan"))


@job("mail", queue=MAIL)
def mail() -> None: ...


@job("plan", queue=PLAN)
def plan() -> None: ...


@job("sum", queue="q:sums")
def sums() -> None: ...


def test_by_the_name_and_by_the_queue(bench: Bench) -> None:
    pg = bench.conn
    run(pg, register_job_types([mail, plan, sums]))
    run(pg, register_queues([MAIL, PLAN]))
    ids = {kind.name: bench.make(State.DEAD_LETTER, kind.new()) for kind in (mail, plan, sums)}
    asked = {NAME: {"mail", "plan"}, "q:plan": {"plan"}, "q:sums": {"sum"}}
    for queue, names in asked.items():
        wanted = {ids[name] for name in names}
        assert {one.id for one in drive(pg, insight.dead_letters(queue=queue))} == wanted
        assert {one.id for one in run(pg, read_dead_letters(queue=queue)).letters} == wanted
        assert {one.job_type for one in run(pg, read_dead_groups(queue=queue))} == names
        assert drive(pg, operations.preview(LetterFilter(queue=queue))).count == len(wanted)
    letter = run(pg, read_dead_letter(ids["mail"]))
    assert letter is not None
    assert (letter.queue, letter.shown_as) == ("q:mail", NAME)
    shown = {one.queue: one.shown_as for one in run(pg, read_dead_letters()).letters}
    assert shown == {"q:mail": NAME, "q:plan": NAME, "q:sums": "q:sums"}
    assert drive(pg, insight.dead_letters(queue="Q:DeadLetter")), "case matters only where several fit"
    with pytest.raises(UnknownQueue, match="q:deadletter"):
        drive(pg, insight.dead_letters(queue="q:deadleter"))
    row = pg.execute("select postmill.promise_json('q:mail')").fetchone()
    assert row is not None
    assert json.loads(json.dumps(row[0]))["dead_letters_as"] == NAME


def test_no_job_type_belongs_to_the_name() -> None:
    @job("lost", queue=NAME)
    def lost() -> None: ...

    with pytest.raises(
        DefinitionError, match="'q:deadletter', under which queue 'q:plan' shows its dead letters"
    ):
        Registry.collect(plan, lost)
    with pytest.raises(DefinitionError, match="white space"):
        Queue("q:mail", dead_letters_as="dead letters")
