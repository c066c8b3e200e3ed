"""Checks that look at the server, and at the way to it."""

import psycopg

from postmill.cli.database import open_connection
from postmill.operate.doctor import clock, listening
from postmill.operate.doctor.examine import CHECKS
from postmill.operate.doctor.finding import Level
from postmill.operate.doctor.probe import Probe
from tests.cli.support import cli
from tests.support.postgres import new_server


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
    assert look("listen", notify=False).level is Level.OK


def test_settings_that_lose_jobs(tmp_path):
    careless = {"fsync": "off", "autovacuum": "off"}
    with (
        new_server(tmp_path / "careless", settings=careless) as server,
        open_connection(server.dsn()) as conn,
    ):
        found = CHECKS["settings"](Probe(conn, "postmill", lambda: open_connection(server.dsn())))
    assert found.level is Level.FAIL
    assert "fsync = off" in found.advice
    assert "autovacuum = off" in found.advice


def test_no_pooler_in_between(look):
    assert look("pooler").summary == "a direct connection"
