"""What an operator asks of many dead letters, and does to one: statistics, preview, later successes, edits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from postmill.bind import drive, run
from postmill.domain.encryption import KeyRing
from postmill.domain.errors import InvalidValue, NotFound, PayloadRefused
from postmill.domain.job import NewJob
from postmill.domain.letters import LetterFilter
from postmill.domain.lifecycle import State
from postmill.operate import commands, editing, insight, operations
from postmill.store.dead import list_dead, read_dead_letters
from postmill.store.registration import register_job_types
from tests.operate.conftest import Bench, greet
from tests.support.databases import fresh_database
from tests.support.letters import CAUSES, seed_letters

MANY = 1224  # 12 causes, 3 tenants


@pytest.fixture(scope="module")
def letters(cluster: Any, template: str) -> Iterator[Connection[Any]]:
    with fresh_database(cluster, template) as database, database.connect() as conn:
        seed_letters(conn, MANY)
        yield conn


def test_statistics_are_those_of_the_letters(letters: Connection[Any]) -> None:
    found = drive(letters, operations.statistics())
    assert found.open == MANY
    by_cause = {(status, reason): 0 for status, reason, _, _ in CAUSES}
    for status, reason, _, _ in CAUSES:
        by_cause[status, reason] += MANY // 12
    assert {(one.status, one.reason): one.count for one in found.by_cause} == by_cause
    assert [one.count for one in found.by_cause] == sorted(by_cause.values(), reverse=True)
    assert len(found.by_group) == 12
    quota = next(one for one in found.by_group if one.error_class == "QuotaExceeded")
    assert (quota.count, quota.tenants, quota.job_type) == (MANY // 12, 3, "embed")
    assert quota.error_message == "quota exceeded for project bakery"
    first, last = letters.execute(
        "select min(failed_at), max(failed_at) from postmill.dead_letter where error_class = 'QuotaExceeded'"
    ).fetchone()  # type: ignore[misc]
    assert (quota.oldest, quota.newest) == (first, last)
    assert [(one.name, one.count) for one in found.by_queue] == [("default", MANY)]
    assert [one.count for one in found.by_tenant] == [MANY // 3] * 3
    own = drive(letters, operations.statistics(tenant=UUID("00000001-0000-0000-0000-000000000000")))
    assert (own.open, len(own.by_tenant)) == (MANY // 3, 1)
    assert own.oldest > found.oldest or own.oldest == found.oldest  # type: ignore[operator]


def test_counts_follow_whatever_happens_and_folding_changes_none(letters: Connection[Any]) -> None:
    with letters.transaction(force_rollback=True):
        before = drive(letters, operations.statistics())
        ids = [row[0] for row in letters.execute("select id from postmill.dead_letter order by id limit 90")]
        assert {one.status for one in drive(letters, commands.discard(ids[:10]))} == {"discarded"}
        assert {one.status for one in drive(letters, commands.replay(ids[10:]))} == {"replayed"}
        after = drive(letters, operations.statistics())
        assert run_one(letters, "select postmill.fold_dead_tally(1)") > 0
        assert drive(letters, operations.statistics()) == after
        assert (after.open, after.closed_hour, after.closed_day) == (MANY - 90, 90, 90)
        # The hour and the day went on meanwhile: of those at their beginnings some are no longer in them.
        assert before.opened_hour - 9 <= after.opened_hour <= before.opened_hour
        assert before.opened_day - 9 <= after.opened_day <= before.opened_day
        counted = "select error_status, reason, count(*) from postmill.dead_letter group by 1, 2"
        assert {tuple(row) for row in letters.execute(counted)} == {
            (one.status, one.reason, one.count) for one in after.by_cause
        }
        letters.execute("set postmill.clock_offset = '3 days'")
        run_one(letters, "select postmill.fold_dead_tally(1)")
        old = drive(letters, operations.statistics())
        letters.execute("set postmill.clock_offset = ''")
        assert (old.open, old.closed_day, old.by_group) == (
            MANY - 90,
            0,
            [_later(one) for one in after.by_group],
        )
        letters.execute("truncate postmill.dead_letter")
        assert drive(letters, operations.statistics()).open == 0


def _later(one: Any) -> Any:
    from dataclasses import replace

    return replace(one, opened_hour=0)


def run_one(conn: Connection[Any], text: str) -> Any:
    row = conn.execute(text.encode()).fetchone()
    assert row is not None
    return row[0]


def test_lists_by_group_status_and_age(letters: Connection[Any]) -> None:
    (group,) = [g for g in drive(letters, operations.statistics()).by_group if g.error_class == "InvalidKey"]
    of_group = run(letters, list_dead(error_group=group.error_group, most=1000))
    assert {one.error_class for one in of_group} == {"InvalidKey"}
    assert len(of_group) == MANY // 12
    assert run(letters, list_dead(error_status=401, most=1000)) == of_group
    middle = of_group[50].failed_at
    older = run(letters, list_dead(error_status=401, until=middle, most=1000))
    newer = run(letters, list_dead(error_status=401, since=middle, most=1000))
    assert [*newer, *older] == of_group
    assert (
        run(letters, read_dead_letters(error_group=group.error_group, until=middle, most=1000)).letters
        == older
    )
    page = run(letters, read_dead_letters(error_status=401, since=middle, most=30))
    assert page.letters == newer[:30]
    rest = run(letters, read_dead_letters(error_status=401, since=middle, before=page.before, most=1000))
    assert [*page.letters, *rest.letters] == newer


def test_a_preview_tells_what_would_be_met(letters: Connection[Any]) -> None:
    with letters.transaction(force_rollback=True):
        letters.execute("update postmill.job_definition set replay_class = 'ask' where key = 'embed'")
        found = drive(letters, operations.preview(LetterFilter(message="QUOTA", queue="DEFAULT"), sample=3))
        assert (found.count, found.tenants, found.by_replay_class) == (MANY // 12, 3, {"ask": MANY // 12})
        assert [(one.status, one.count) for one in found.by_cause] == [(429, MANY // 12)]
        assert len(found.sample) == 3
        half = LetterFilter(error_status=429, given_up_before=found.sample[0].failed_at)
        assert drive(letters, operations.preview(half)).count == MANY // 12 - 1
        assert drive(letters, operations.preview(LetterFilter(ids=[found.sample[0].id]))).count == 1
    naive = found.sample[0].failed_at.replace(tzinfo=None)
    with pytest.raises(InvalidValue, match="without a time zone"):
        LetterFilter(given_up_after=naive)


def test_who_has_succeeded_since_is_not_replayed(bench: Bench) -> None:
    """The same key, or the same type and payload: shown and skipped, unless it is asked for."""
    keyed, plain, alone = [
        bench.make(State.DEAD_LETTER, greet.new(name).using(key=key))
        for name, key in (("Ada", "k"), ("Bob", None), ("Cy", None))
    ]
    later_key = bench.make(State.SUCCEEDED, greet.new("somebody else").using(key="k"))
    failed = bench.make(State.FAILED, greet.new("Cy"))
    later_payload = bench.make(State.SUCCEEDED, greet.new("Bob"))
    answers = drive(bench.conn, commands.replay([keyed, plain, alone]))
    assert {(one.id, one.status) for one in answers} == {
        (keyed, "succeeded_since"), (plain, "succeeded_since"), (alone, "replayed"),
    }  # fmt: skip
    assert {one.new_id for one in answers[:2]} == {later_key, later_payload}
    assert bench.state(failed) is State.FAILED
    other = json.dumps({"name": "Dee"}).encode()
    (edited,) = drive(bench.conn, commands.replay([plain], payload=other))
    assert edited.status == "replayed"
    (forced,) = drive(bench.conn, commands.replay([keyed], despite_success=True))
    assert forced.status == "replayed"


def test_an_own_replay_is_no_later_success(bench: Bench) -> None:
    id = bench.make(State.DEAD_LETTER)
    (first,) = drive(bench.conn, commands.replay([id]))
    assert first.new_id is not None
    bench.report("complete", first.new_id, "'{5000}', array['1']::jsonb[]")
    (second,) = drive(bench.conn, commands.replay([id]))
    assert (second.status, second.new_id) == ("already_replayed", first.new_id)
    assert drive(bench.conn, commands.replay([id], again=True))[0].status == "replayed"


def test_a_replay_waits_for_a_version(bench: Bench) -> None:
    id = bench.make(State.DEAD_LETTER)
    version = run_one(bench.conn, "select version from postmill.job_definition where key = 'greet'")
    assert drive(bench.conn, commands.replay([id], version=version + 1))[0].status == "old_version"
    run(bench.conn, register_job_types([greet.__class__(**{**_fields(greet), "max_attempts": 9})]))
    letter = drive(bench.conn, insight.dead_letter(id))
    assert (letter.version, letter.version_then) == (version + 1, version)
    assert drive(bench.conn, commands.replay([id], version=version + 1))[0].status == "replayed"
    with pytest.raises(NotFound):
        drive(bench.conn, insight.dead_letter(id))


def _fields(of: Any) -> dict[str, Any]:
    from dataclasses import fields

    return {field.name: getattr(of, field.name) for field in fields(of) if field.init}


def test_an_edit_is_checked_and_audited_without_secrets(bench: Bench) -> None:
    bench.conn.execute(
        """update postmill.job_definition set arg_schema = '{"type": "object", "additionalProperties": false,
           "properties": {"name": {"type": "string"}, "password": {"type": "string"}}}' where key = 'greet'"""
    )
    id = bench.make(State.DEAD_LETTER, NewJob("greet", b'{"name": "Ada", "password": "hunter2"}'))
    letter = drive(bench.conn, insight.dead_letter(id))

    def edit(patch: dict[str, Any]) -> editing.Edited:
        return drive(
            bench.conn,
            editing.edited(
                "greet", letter.tenant_id, letter.payload, patch=patch, ring=lambda: KeyRing.of({})
            ),
        )

    with pytest.raises(PayloadRefused, match="/name"):
        edit({"name": 5})
    made = edit({"name": "Bob", "password": "hunter3"})
    assert json.loads(made.payload) == {"name": "Bob", "password": "hunter3"}
    (answer,) = drive(bench.conn, commands.replay([id], payload=made.payload, changes=made.changes))
    after = run_one(bench.conn, "select after from postmill.audit_log where action = 'dead.replay'")
    assert after == {
        "replayed_as": str(answer.new_id),
        "payload_edited": True,
        "changes": [
            {"path": "/name", "before": "Ada", "after": "Bob"},
            {"path": "/password", "before": "[redacted]", "after": "[redacted]"},
        ],
    }
    new = drive(bench.conn, insight.job(answer.new_id))  # type: ignore[arg-type]
    assert (new.replayed_from, new.payload["name"]) == (id, "Bob")


def test_growth_raises_an_incident_and_its_end_resolves_it(bench: Bench) -> None:
    """More than 10 in a queue by default; a threshold of a queue or a type of its own; told anew at half as many again."""

    def watch(most: int | None = 10, queues: str = "{}", types: str = "{}") -> list[Any]:
        text = "select key, verb, open from postmill.watch_dead_letters(%s, %s, %s) order by key"
        return bench.conn.execute(text, [most, queues, types]).fetchall()

    def opened() -> list[Any]:
        text = "select key, severity, facts from postmill.incident where resolved_at is null order by key"
        return bench.conn.execute(text).fetchall()

    ids = [bench.make(State.DEAD_LETTER) for _ in range(10)]
    assert watch() == []
    assert watch(queues='{"default": 5}', types='{"greet": 3}') == [
        ("queue:default", "raised", 10), ("type:greet", "raised", 10),
    ]  # fmt: skip
    assert [row[:2] for row in opened()] == [("queue:default", "warning"), ("type:greet", "warning")]
    facts = opened()[0][2]
    assert facts["open"] == 10
    assert facts["causes"] == [{"count": 10, "reason": "max_retries_exceeded", "status": 500}]
    assert watch(queues='{"default": 5}', types='{"greet": 3}') == []
    assert watch(queues='{"default": null}') == [
        ("queue:default", "resolved", 10), ("type:greet", "resolved", 0),
    ]  # fmt: skip
    assert opened() == []
    ids.append(bench.make(State.DEAD_LETTER))
    assert watch() == [("queue:default", "raised", 11)]
    ids += [bench.make(State.DEAD_LETTER) for _ in range(6)]
    assert watch() == [("queue:default", "grown", 17)]
    drive(bench.conn, commands.discard(ids[:7]))
    assert watch() == [("queue:default", "resolved", 10)]


QUOTA = {"message": "BROKEN", "older_than": 86400.0, "times": 1, "most": 3}


def test_a_rule_recovers_old_letters_a_bounded_number_of_times(bench: Bench) -> None:
    def recover(**rule: Any) -> tuple[int, int]:
        text = "select replayed, skipped from postmill.recover(%s)"
        row = bench.conn.execute(text, [json.dumps({"quota": QUOTA | rule})]).fetchone()
        assert row is not None
        return row[0], row[1]

    def age(hours: int, which: str = "true") -> None:
        bench.conn.execute(
            f"update postmill.dead_letter set failed_at = failed_at - {hours} * interval '1 hour' where {which}".encode()
        )

    ids = [bench.make(State.DEAD_LETTER, greet.new(str(n))) for n in range(5)]
    assert recover() == (0, 0)  # too young
    age(25)
    assert recover() == (3, 0)  # no more an hour
    assert recover() == (0, 0)
    assert recover(most=100) == (2, 0)
    new = [
        bench.conn.execute("select new_id from postmill.recovery where job_id = %s", [id]).fetchone()
        for id in ids
    ]
    for (id,) in new:  # type: ignore[misc]
        bench.report(
            "bury", id, "'{5000}', '{failed}', '{max_retries_exceeded}', '{E}', '{E1}', '{broken}', '{500}'"
        )
    bench.conn.execute("set postmill.clock_offset = '30 hours'")
    assert recover(most=100) == (0, 5)  # once each, over the whole line
    bench.conn.execute("update postmill.recovery_rule set looked_at = '2000-01-01Z'")
    assert recover(most=100, times=2) == (5, 0)
    assert recover(most=100, times=2, error_status=404) == (0, 0)
    (rule,) = drive(bench.conn, operations.recovery_rules())
    assert (rule.name, rule.replayed, rule.skipped) == ("quota", 10, 5)
    bench.conn.execute("set postmill.clock_offset = ''")
    by = bench.conn.execute(
        "select distinct via, actor_type, actor_id from postmill.audit_log where action = 'dead.replay'"
    )
    assert by.fetchall() == [("upkeep", "system", "recovery quota")]


@pytest.mark.parametrize("replay_class", ["ask", "never"])
def test_a_rule_is_nobody_to_ask(bench: Bench, replay_class: str) -> None:
    bench.conn.execute("update postmill.job_definition set replay_class = %s", [replay_class])
    id = bench.make(State.DEAD_LETTER)
    rule = json.dumps({"all": {"reason": "max_retries_exceeded", "older_than": 0, "times": 1, "most": 9}})
    row = bench.conn.execute("select replayed, skipped from postmill.recover(%s)", [rule]).fetchone()
    assert row == (0, 1)
    assert bench.state(id) is State.DEAD_LETTER
