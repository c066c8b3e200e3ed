"""Checks that look at workers, queues and partitions."""

from postmill.operate.doctor.finding import Level
from tests.support.tickets import changed


def test_partitions_that_run_out(look, pg):
    assert look("partitions").level is Level.OK
    pg.execute("delete from postmill.partition where since > postmill.now()")
    few = look("partitions")
    assert (few.level, "0 ahead" in few.summary) == (Level.WARN, True)
    pg.execute("delete from postmill.partition")
    assert "none for now" in look("partitions").summary


def test_job_types_that_nobody_serves(look, stage):
    stage.register("served", "alone")
    stage.open("served")
    assert "no live worker serves: alone" in look("job_types").summary
    stage.enqueue("alone")
    waiting = look("job_types")
    assert waiting.level is Level.WARN
    assert "jobs wait, and no live worker serves: alone" in waiting.summary
    assert waiting.details[0]["waiting"] == 1


def test_workers_that_went_without_a_word(look, stage, pg):
    stage.open("greet")
    assert look("workers").level is Level.OK
    pg.execute("update postmill.lease set expires_at = postmill.now() - interval '1 minute'")
    gone = look("workers")
    assert (gone.level, "silent: host:1:boot" in gone.summary) == (Level.WARN, True)


def test_several_versions_at_once(look, stage, pg):
    stage.open("greet")
    pg.execute(
        "insert into postmill.lease select postmill.new_id(), started_at, expires_at from postmill.lease;"
        " insert into postmill.worker (holder, worker_id, hostname, pid, version, started_at, last_seen_at)"
        " select l.holder, 'other', 'h', 2, '2.0', postmill.now(), postmill.now() from postmill.lease l"
        " where not exists (select from postmill.worker w where w.holder = l.holder)"
    )
    assert "versions 1.0, 2.0" in look("workers").summary


def test_upkeep_that_nobody_does(look, stage, pg):
    stage.open("greet")
    pg.execute(
        "update postmill.upkeep set last_run_at = postmill.now() - interval '1 day' where name = 'rescue'"
    )
    # Nobody was there to run it: who has just begun is not late.
    assert look("upkeep").level is Level.OK
    pg.execute("update postmill.lease set started_at = postmill.now() - interval '3 minutes'")
    late = look("upkeep")
    assert (late.level, "overdue: rescue (24 h ago)" in late.summary) == (Level.WARN, True)


def test_a_round_that_has_nothing_to_do_is_not_late(look, stage, pg):
    stage.register("greet")
    stage.open("greet")
    pg.execute(
        "update postmill.upkeep set last_run_at = postmill.now() - interval '1 day'"
        " where name in ('promote', 'operate', 'archive');"
        " update postmill.lease set started_at = postmill.now() - interval '1 day'"
    )
    assert look("upkeep").level is Level.OK
    began = (
        "insert into postmill.operation (id, kind, status, stage, filter, created_at, actor_type, total)"
        " values (postmill.new_id(), 'replay', 'running', 'rest', '{}', postmill.now() - interval '5 minutes', 'user', 3)"
    )
    pg.execute(began)
    assert "overdue: operate (24 h ago)" in look("upkeep").summary
    pg.execute("delete from postmill.operation")
    stage.enqueue("greet", delay="1 hour")
    assert look("upkeep").level is Level.OK, "due in an hour"
    pg.execute(
        "with gone as (delete from postmill.scheduled returning *)"
        " insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)"
        " select queue, lane, run_at - interval '62 minutes', id, priority, attempt, run, lost from gone"
    )
    late = look("upkeep")
    assert (late.level, "overdue: promote (24 h ago)" in late.summary) == (Level.WARN, True)


def test_jobs_that_wait_where_their_type_is_not_at_home(look, stage, pg):
    stage.register("greet")
    stage.open("greet")
    stage.enqueue("greet")
    stage.claim()
    stage.register("greet", queue="mail")
    assert look("strays").level is Level.OK, "what runs will end"
    stage.register("other")
    stage.enqueue("other", delay="1 hour")
    stage.register("other", queue="mail")
    found = look("strays")
    assert found.level is Level.WARN
    assert found.summary.endswith("1 of other in default (its queue is mail)")
    assert found.advice == "move them: postmill queues move other"


def test_queues_that_nobody_serves(look, stage, pg):
    stage.register("served", "alone")
    stage.register("far", queue="mail")
    stage.enqueue("served")
    assert look("unserved").summary.endswith("1 in default (for 0 s)"), "no worker at all"
    stage.open("served")
    assert look("unserved").level is Level.OK
    ids = [stage.enqueue("far") for _ in range(2)]
    earlier = changed(
        "ready", "jsonb_build_object('ready_at', gone.ready_at - interval '5 minutes')", "id = %s"
    )
    pg.execute(earlier, [ids[0]])
    due = changed("scheduled", "jsonb_build_object('run_at', gone.run_at - interval '61 minutes')", "id = %s")
    pg.execute(due, [stage.enqueue("far", delay="1 hour")])
    stage.enqueue("far", delay="1 hour")
    found = look("unserved")
    assert found.level is Level.WARN
    assert found.summary == "jobs wait in queues that no live worker serves: 3 in mail (for 5 min)"
    assert found.advice == "start one: postmill worker MODULE --queues mail"
    pg.execute("update postmill.job_definition set kind = 'http' where key = 'far'")
    assert look("unserved").advice == "start the program that works on queue mail over HTTP"
    pg.execute("select postmill.pause_queue('mail')")
    assert look("unserved").level is Level.OK, "that is meant, and told by the check of queues"


def test_a_paused_queue_with_work(look, stage, pg):
    stage.register("greet")
    pg.execute("select postmill.pause_queue('default', 'provider is down')")
    assert look("queues").level is Level.OK
    stage.enqueue("greet")
    found = look("queues")
    assert found.level is Level.WARN
    assert "default (provider is down)" in found.summary
    assert "postmill queues resume default" in found.advice


def test_open_incidents_are_pointed_to(look, pg):
    assert (look("incidents").level, look("incidents").summary) == (Level.OK, "none is open")
    pg.execute(
        "select postmill.raise_incident('sla_breach', k, s, 'queue ' || k || ' is late', '{}')"
        " from (values ('mail', 'warning'), ('billing', 'critical')) x(k, s)"
    )
    pg.execute(
        "update postmill.incident set opened_at = postmill.now() - interval '3 hours' where key = 'mail'"
    )
    found = look("incidents")
    assert found.level is Level.WARN
    assert found.summary == "2 open (1 critical, 2 taken by nobody); the oldest since 3 h: queue mail is late"
    assert found.advice == "postmill incidents list"
