"""Migrating: from nothing, again, from an older version, into another schema, wrongly."""

from __future__ import annotations

import re

import psycopg
import pytest
from psycopg.rows import dict_row

from postmill.domain.errors import SchemaTooNew
from postmill.schema.check import acheck, check
from postmill.schema.migration import known_migrations
from postmill.schema.runner import TransactionOpen, migrate, render_sql
from postmill.schema.status import MigrationChanged
from tests.schema.conftest import Write
from tests.support.databases import Database

pytestmark = pytest.mark.matrix


def test_migrating_twice_applies_once(empty_database: Database) -> None:
    assert migrate(empty_database.dsn) == known_migrations()
    assert migrate(empty_database.dsn) == ()
    with empty_database.connect() as conn:
        check(conn).require()


def test_only_what_is_missing_is_applied(empty_database: Database, write: Write) -> None:
    assert len(migrate(empty_database.dsn, migrations=write())) == 1
    more = write("-- postmill: safe\ninsert into {schema}.step values (2);")
    assert [migration.version for migration in migrate(empty_database.dsn, migrations=more)] == [2]
    with empty_database.connect() as conn:
        assert conn.execute("select n from postmill.step order by n").fetchall() == [(1,), (2,)]
        assert conn.execute("select count(applied_at) from postmill.migration").fetchone() == (2,)


def test_a_migration_that_fails_leaves_the_ones_before_it(empty_database: Database, write: Write) -> None:
    broken = write("-- postmill: safe\ninsert into {schema}.step values (2), (2);")
    with pytest.raises(psycopg.errors.UniqueViolation):
        migrate(empty_database.dsn, migrations=broken)
    with empty_database.connect() as conn:
        status = check(conn, known=broken)
        assert (status.version, [m.version for m in status.pending]) == (1, [2])
        assert conn.execute("select n from postmill.step").fetchall() == [(1,)]


def test_two_schemas_live_side_by_side(empty_database: Database) -> None:
    migrate(empty_database.dsn, "postmill")
    migrate(empty_database.dsn, "windmill_2")
    with empty_database.connect() as conn:
        check(conn, "postmill").require()
        check(conn, "windmill_2").require()


def test_another_name_is_used_everywhere() -> None:
    """Only settings of the session are called postmill.something under every name; these stand in quotes."""
    for migration in known_migrations():
        code = re.sub(r"--.*", "", migration.sql("windmill"))
        assert re.findall(r"(?<!['\w])postmill\.\w+.*", code) == [], migration.name


def test_a_connection_of_the_caller_is_used_as_it_is(empty_database: Database) -> None:
    with psycopg.connect(empty_database.dsn, row_factory=dict_row) as conn:
        assert migrate(conn)
        assert not conn.autocommit
        conn.rollback()
        check(conn).require()


def test_an_open_transaction_is_refused(empty_database: Database) -> None:
    with psycopg.connect(empty_database.dsn) as conn:
        conn.execute("select 1")
        with pytest.raises(TransactionOpen):
            migrate(conn)


def test_a_changed_migration_is_refused_and_nothing_applied(empty_database: Database, write: Write) -> None:
    migrate(empty_database.dsn, migrations=write("-- postmill: safe\nselect 1;"))
    changed = write("-- postmill: safe\nselect 2;", "-- postmill: safe\nselect 3;")
    with pytest.raises(MigrationChanged, match="0002_step"):
        migrate(empty_database.dsn, migrations=changed)
    with empty_database.connect() as conn:
        assert check(conn, known=changed).version == 2


def test_a_newer_breaking_schema_is_refused(empty_database: Database, write: Write) -> None:
    newer = write("-- postmill: breaking\nselect 1;")
    migrate(empty_database.dsn, migrations=newer)
    with pytest.raises(SchemaTooNew, match="0002_step: upgrade Postmill"):
        migrate(empty_database.dsn, migrations=newer[:1])


def test_the_script_for_psql_does_the_same(empty_database: Database) -> None:
    with empty_database.connect() as conn:
        conn.execute(render_sql().encode())
        check(conn).require()
        assert migrate(conn) == ()


def test_the_script_for_the_rest(empty_database: Database, write: Write) -> None:
    known = write("-- postmill: safe\ninsert into {schema}.step values (2);")
    migrate(empty_database.dsn, migrations=known[:1])
    with empty_database.connect() as conn:
        conn.execute(render_sql(migrations=check(conn, known=known).pending).encode())
        check(conn, known=known).require()


async def test_the_check_of_an_async_connection(empty_database: Database) -> None:
    async with await empty_database.aconnect() as conn:
        assert (await acheck(conn)).applied is None
        migrate(empty_database.dsn)
        (await acheck(conn)).require()


def test_an_isolation_level_of_the_database_s_own_does_no_harm(empty_database: Database) -> None:
    with empty_database.connect() as conn:
        conn.execute(f"alter database {empty_database.name} set default_transaction_isolation = serializable")
    assert migrate(empty_database.dsn)
    assert migrate(empty_database.dsn) == ()
