"""`postmill why`: what holds a job back, in the order in which it does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from postmill.cli.ids import SHORT
from tests.cli.staging import Stage
from tests.cli.support import cli


def codes(dsn, id):
    return [reason["code"] for reason in cli("why", str(id), "--json", dsn=dsn).json["reasons"]]


def text(dsn, id):
    return cli("why", str(id), "--json", dsn=dsn).json["reasons"][0]["text"]


def test_what_holds_a_job_back_in_order(dsn, stage, pg, here):
    stage.register("greet", "bulk")
    first, second = stage.enqueue("greet"), stage.enqueue("greet")
    later = stage.enqueue("greet", delay="1 hour")
    assert codes(dsn, second) == ["no_worker_for_queue", "position"]
    stage.open("bulk", worker_id="host:1:boot")
    assert codes(dsn, second) == ["no_worker_for_type", "position"]
    pg.execute("update postmill.job_definition set created_at = postmill.now() where key = 'greet'")
    assert codes(dsn, second) == ["no_worker_for_type", "worker_too_old", "position"]
    pg.execute("update postmill.worker set job_types = '{greet,bulk}'")
    assert codes(dsn, first) == ["position"]
    assert text(dsn, first) == "it is the next one of its lane"
    assert text(dsn, second) == "1 job before it in its lane"
    assert codes(dsn, later) == ["not_due"]
    # Two run: of a type that may have two of them, on a worker that has two slots for all.
    stage.claim()
    third = stage.enqueue("greet")
    pg.execute("update postmill.worker set slots = '{\"default\": 2}'")
    assert codes(dsn, third) == ["slots_taken", "position"]
    assert text(dsn, third) == "every slot of queue default is taken: 2/2 run on 1 worker"
    pg.execute("update postmill.job_definition set worker_limit = 2, is_active = false where key = 'greet'")
    assert codes(dsn, third) == ["worker_limit", "definition_inactive", "position"]
    assert (
        text(dsn, third)
        == f"greet is at its limit: 2/2 run, 2 on each of 1 worker; held by {first}, {second}"
    )
    made = cli("limits", "set", "type:greet", "--max-running", "2", "--rate", "1/1m", dsn=dsn)
    assert (made.code, "2" in made.out, "1 in 1 min" in made.out) == (0, True, True)
    pg.execute(
        "insert into postmill.seat select key, n, id, x from postmill.limit_rule, unnest(%s::uuid[]) with ordinality as u(x, n)",
        ([first, second],),
    )
    pg.execute(
        "insert into postmill.rate_take select key, 1, postmill.now() + interval '1 minute' from postmill.limit_rule"
    )
    assert text(dsn, third) == f"limit type:greet is full: 2/2 run; held by {first}, {second}"
    pg.execute("update postmill.tenant set status = 'suspended'")
    pg.execute("select postmill.pause_queue('default', 'provider is down')")
    assert codes(dsn, third) == [
        "queue_paused", "tenant_suspended", "limit", "worker_limit", "rate", "definition_inactive", "position",
    ]  # fmt: skip
    answer = cli("jobs", "why", str(third)[:SHORT], dsn=dsn)
    assert "1. queue default is paused: provider is down  (queue_paused)" in answer.out
    shown = cli("jobs", "show", str(third), dsn=dsn).out
    assert (
        f"queue default is paused: provider is down (all reasons: postmill why {str(third)[:SHORT]})" in shown
    )
    assert codes(dsn, first) == ["running"]
    assert "all reasons" not in cli("jobs", "show", str(first), dsn=dsn).out


def test_a_job_that_was_put_back_by_a_worker_that_does_not_know_its_type(dsn, stage, pg, here):
    stage.register("greet", "bulk")
    id = stage.enqueue("greet")
    stage.open("bulk", worker_id="old:1:boot")
    stage.claim()
    assert pg.execute(
        "select * from postmill.refuse(%s, %s, '{1,2}', '{greet,greet}')", (stage.holder, [id, stage.holder])
    ).fetchall() == [(stage.holder,)]
    assert codes(dsn, id) == ["put_back", "no_worker_for_type", "position"]
    assert text(dsn, id) == "put back by worker old:1:boot, which does not know greet"
    Stage(pg).open("greet", worker_id="new:1:boot")
    assert codes(dsn, id) == ["put_back", "position"]
    assert text(dsn, id) == (
        "put back by worker old:1:boot, which does not know greet; worker new:1:boot does, and takes it in turn (so that"
        " none is put back: restart the first with the code that has greet, or give greet a queue of its own)"
    )
    Stage(pg).open("greet", worker_id="newer:1:boot")
    assert "; worker new:1:boot and 1 more do, and take it in turn (so" in text(dsn, id)


def test_a_job_that_is_gone_and_one_that_never_was(dsn, stage, pg, here):
    stage.register("greet")
    made = datetime.now(UTC) - timedelta(days=400)
    [[old]] = pg.execute(
        "select overlay(overlay(postmill.id_at(%s)::text placing '7' from 15) placing '8' from 20)", [made]
    ).fetchall()
    for words in (("jobs", "show"), ("jobs", "why"), ("why",)):
        answer = cli(*words, str(old), dsn=dsn)
        assert answer.code == 5
        assert (
            f"any more: it would be of {made:%Y-%m-%d %H:%M} UTC, and ended jobs are kept for 30 d"
            in answer.err
        )
    never = cli("why", "0198f3a2-7c11-4abc-8000-0123456789ab", dsn=dsn)
    assert never.code == 5
    assert "there is no job 0198f3a2-7c11-4abc-8000-0123456789ab\n" in never.err
    pg.execute("update postmill.job_definition set keep = 'failures'")
    assert "keeps only failures" in cli("why", "0198f3a2-7c11-4abc-8000-0123456789ab", dsn=dsn).err
