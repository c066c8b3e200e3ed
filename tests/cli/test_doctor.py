"""`postmill doctor`: each check sees what it is there for."""

import psycopg
import pytest

from postmill.cli.database import open_connection
from postmill.operate.doctor import clock, listening
from postmill.operate.doctor.examine import CHECKS, examine
from postmill.operate.doctor.finding import Level
from postmill.operate.doctor.probe import Probe
from tests.cli.support import cli
from tests.support.postgres import new_server


@pytest.fixture
def look(dsn):
    """One check, by its name."""

    def one(name, **more):
        with open_connection(dsn) as conn:
            return CHECKS[name](Probe(conn, "postmill", **more))

    return one


def test_all_is_well_but_for_the_missing_worker(dsn, here):
    answer = cli("doctor", "--json", dsn=dsn)
    assert answer.code == 0
    found = {check["check"]: check for check in answer.json["checks"]}
    assert set(found) == set(CHECKS)
    assert {name for name, check in found.items() if check["level"] != "ok"} == {"workers"}
    assert "postmill worker MODULE" in found["workers"]["advice"]
    assert cli("doctor", "--strict", dsn=dsn).code == 1
    assert "1 of 16 checks want a look" in cli("doctor", dsn=dsn).out


def test_no_schema_and_no_server(empty_database, here):
    answer = cli("doctor", dsn=empty_database.dsn)
    assert answer.code == 4
    assert "fail  migrations" in answer.out
    assert "→ run: postmill migrate" in answer.out
    assert cli("doctor", "--dsn", "host=127.0.0.1 port=1").code == 3


def test_a_session_that_pins_the_horizon(look, database, monkeypatch):
    monkeypatch.setattr("postmill.operate.doctor.horizon.LONG", 0.0)
    with psycopg.connect(database.dsn, application_name="forgetful") as conn:
        conn.execute("insert into postmill.tenant (id, slug, name) select postmill.new_id(), 'x', 'x'")
        found = look("horizon")
        assert found.level is Level.WARN
        assert "forgetful" in found.summary
        assert "idle in transaction" in found.summary
        assert "pg_terminate_backend" in found.advice
        conn.rollback()


def test_a_prepared_transaction_pins_it_too(look, database, monkeypatch):
    monkeypatch.setattr("postmill.operate.doctor.horizon.LONG", 0.0)
    with database.connect() as conn:
        conn.execute("begin")
        conn.execute("insert into postmill.tenant (id, slug, name) select postmill.new_id(), 'y', 'y'")
        conn.execute("prepare transaction 'forgotten'")
        found = look("horizon")
        conn.execute("rollback prepared 'forgotten'")
    assert "prepared transaction forgotten" in found.summary
    assert "rollback prepared 'forgotten'" in found.advice


def test_partitions_that_run_out(look, pg):
    assert look("partitions").level is Level.OK
    pg.execute("delete from postmill.partition where since > postmill.now() + interval '1 day'")
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
    late = look("upkeep")
    assert (late.level, "overdue: rescue (24 h ago)" in late.summary) == (Level.WARN, True)


def test_a_paused_queue_with_work(look, stage, pg):
    stage.register("greet")
    pg.execute("select postmill.pause_queue('default', 'provider is down')")
    assert look("queues").level is Level.OK
    stage.enqueue("greet")
    found = look("queues")
    assert found.level is Level.WARN
    assert "default (provider is down)" in found.summary
    assert "postmill queues resume default" in found.advice


def test_a_broken_invariant_is_a_failure(dsn, stage, pg, here):
    stage.register("greet")
    id = stage.enqueue("greet")
    pg.execute("delete from postmill.ready")
    answer = cli("doctor", dsn=dsn)
    assert answer.code == 1
    assert "fail  invariants" in answer.out
    assert str(id) in answer.out


def test_a_role_that_may_little(look, database, pg):
    pg.execute("do $$ begin create role app login; exception when duplicate_object then null; end $$")
    app = database.dsn.replace("postgres@", "app@")
    with open_connection(app) as conn:
        nothing = CHECKS["permissions"](Probe(conn, "postmill"))
    assert nothing.level is Level.FAIL
    assert "grant_application" in nothing.advice
    pg.execute("select postmill.grant_application('app')")
    with open_connection(app) as conn:
        report = examine(Probe(conn, "postmill"))
    found = {finding.check: finding for finding in report.findings}
    assert found["permissions"].summary == "this role may enqueue; not work, operate, migrate"
    assert "may not look" in found["invariants"].summary
    pg.execute("drop owned by app")


def test_a_clock_that_is_wrong(look, monkeypatch):
    assert look("clock").level is Level.OK
    monkeypatch.setattr(clock, "TOLERATED", -1.0)
    assert look("clock").level is Level.WARN
    monkeypatch.setattr(clock, "BROKEN", -1.0)
    assert look("clock").level is Level.FAIL


def test_a_shifted_clock_is_told(dsn, here):
    answer = cli("doctor", "--json", "--dsn", f"{dsn}&options=-c%20postmill.clock_offset%3D1h")
    assert {check["check"] for check in answer.json["checks"] if check["level"] == "fail"} == {"clock"}
    assert "shifts the clock" in next(c["advice"] for c in answer.json["checks"] if c["check"] == "server")


def test_notifications_that_do_not_arrive(look, monkeypatch, dsn):
    assert look("listen").level is Level.OK
    assert look("listen", listen=lambda: open_connection(dsn)).level is Level.OK
    monkeypatch.setattr(listening, "PATIENCE", 0.05)
    monkeypatch.setattr(listening, "_heard", lambda listener, word, began: None)
    found = look("listen")
    assert (found.level, "listen_url" in found.advice) == (Level.WARN, True)


def test_settings_that_lose_jobs(tmp_path):
    careless = {"fsync": "off", "autovacuum": "off"}
    with (
        new_server(tmp_path / "careless", settings=careless) as server,
        open_connection(server.dsn()) as conn,
    ):
        found = CHECKS["settings"](Probe(conn, "postmill"))
    assert found.level is Level.FAIL
    assert "fsync = off" in found.advice
    assert "autovacuum = off" in found.advice


def test_a_pooler_in_between(look, monkeypatch, dsn):
    assert look("pooler").summary == "a direct connection"
    monkeypatch.setattr(psycopg.ConnectionInfo, "backend_pid", 1)
    found = look("pooler")
    assert (found.level, "listen_url" in found.advice) == (Level.WARN, True)
    assert look("pooler", listen=lambda: open_connection(dsn)).level is Level.OK
