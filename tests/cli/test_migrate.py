import subprocess

import psycopg
import pytest

from tests.cli.support import cli
from tests.support.postgres import bindir


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_look_migrate_look(empty_database):
    before = cli("migrate", "--check", dsn=empty_database.dsn)
    assert before.code == 4
    assert "is not there yet" in before.out
    done = cli("migrate", "--json", dsn=empty_database.dsn)
    assert done.code == 0
    assert done.json["version"] == len(done.json["applied"]) > 10
    after = cli("migrate", "--check", "--json", dsn=empty_database.dsn)
    assert after.code == 0
    assert after.json["pending"] == []
    assert "is up to date" in cli("migrate", dsn=empty_database.dsn).out


def test_a_schema_of_another_name(empty_database):
    assert cli("migrate", "--schema", "shop_jobs", dsn=empty_database.dsn).code == 0
    assert cli("jobs", "list", "--schema", "shop_jobs", dsn=empty_database.dsn).code == 0
    missing = cli("jobs", "list", dsn=empty_database.dsn)
    assert missing.code == 4
    assert "postmill migrate" in missing.err


def test_a_bad_schema_name_is_refused():
    answer = cli("migrate", "--schema", "Robert'); drop", dsn="postgresql:///x")
    assert answer.code == 2
    assert "schema name" in answer.err


def test_the_script_does_the_same_by_psql(empty_database, folder):
    script = cli("migrate", "--sql")
    assert script.code == 0
    (folder / "schema.sql").write_text(script.out)
    argv = [bindir() / "psql", "--set", "ON_ERROR_STOP=1", "--quiet", "--file", folder / "schema.sql"]
    subprocess.run([*argv, empty_database.dsn], check=True, capture_output=True)
    assert cli("migrate", "--check", dsn=empty_database.dsn).code == 0
    assert "is up to date" in cli("migrate", "--sql", dsn=empty_database.dsn).out


def test_an_older_and_a_newer_schema(database):
    with psycopg.connect(database.dsn, autocommit=True) as conn:
        conn.execute("insert into postmill.migration values (999, 'later', true, 'x', postmill.now())")
        newer = cli("migrate", "--check", dsn=database.dsn)
        assert newer.code == 4
        assert "upgrade" in newer.err
        conn.execute(
            "delete from postmill.migration where version in (select max(version) from postmill.migration)"
        )
        conn.execute(
            "delete from postmill.migration where version in (select max(version) from postmill.migration)"
        )
    older = cli("queues", "list", dsn=database.dsn)
    assert older.code == 4
    assert "run: postmill migrate" in older.err


def test_sql_and_check_exclude_each_other():
    assert cli("migrate", "--sql", "--check").code == 2
