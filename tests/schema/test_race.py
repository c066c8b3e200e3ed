"""Many migrators at once, and migrators that are killed: whatever happens, the schema ends whole."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import psycopg
import pytest

from postmill.schema.check import check
from postmill.schema.migration import known_migrations, read_migrations
from postmill.schema.runner import migrate
from tests.schema.conftest import Write
from tests.support.databases import Database
from tests.support.eventually import eventually

pytestmark = [pytest.mark.matrix, pytest.mark.usefixtures("forked")]

MIGRATOR = """
import sys
from pathlib import Path
from postmill.schema.migration import read_migrations
from postmill.schema.runner import migrate
sys.stdin.readline()
migrations = read_migrations(Path(sys.argv[2])) if len(sys.argv) > 2 else None
print(*(migration.version for migration in migrate(sys.argv[1], migrations=migrations)))
"""


def migrator(*arguments: str | Path) -> subprocess.Popen[str]:
    """A process that has everything imported and migrates once it gets a line."""
    pipe = subprocess.PIPE
    argv = [sys.executable, "-c", MIGRATOR, *arguments]
    return subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_twenty_at_once_install_once(empty_database: Database) -> None:
    start = Barrier(20)

    def race(_: int) -> list[int]:
        start.wait(30)
        return [migration.version for migration in migrate(empty_database.dsn)]

    with ThreadPoolExecutor(20) as pool:
        applied = sorted(version for versions in pool.map(race, range(20)) for version in versions)
    assert applied == [migration.version for migration in known_migrations()]
    with empty_database.connect() as conn:
        check(conn).require()


def test_sigkill_between_any_two_statements_can_be_rerun(
    empty_database: Database, write: Write, tmp_path: Path
) -> None:
    """Killed while the statement after each insert waits for a lock that the test holds."""
    steps = 4
    # Statement k inserts k + 1 and then waits for the advisory lock k.
    lines = [
        f"insert into {{schema}}.step values ({k + 1}); select pg_advisory_xact_lock({k});"
        for k in range(1, steps + 1)
    ]
    known = write(
        "-- postmill: safe\n" + "\n".join(lines[:2]), "-- postmill: breaking\n" + "\n".join(lines[2:])
    )
    with empty_database.connect() as gate, empty_database.connect() as look:
        for k in range(1, steps + 1):
            gate.execute("select pg_advisory_lock(%s)", [k])
            with migrator(empty_database.dsn, tmp_path / "migrations") as process:
                go(process)
                eventually(lambda k=k: waits_for(look, k), 60.0)
                process.kill()
            gate.execute("select pg_advisory_unlock_all()")
            eventually(lambda: no_migrator(look))
            numbers = [n for (n,) in look.execute("select n from postmill.step order by n").fetchall()]
            whole = 1 if k <= 2 else 3  # each migration is there as a whole or not at all
            assert numbers == list(range(1, whole + 1))
    migrate(empty_database.dsn, migrations=known)
    with empty_database.connect() as conn:
        check(conn, known=read_migrations(tmp_path / "migrations")).require()
        assert conn.execute("select max(n) from postmill.step").fetchone() == (steps + 1,)


def test_sigkill_at_any_moment_of_the_real_one_can_be_rerun(empty_database: Database) -> None:
    """Killed as soon as it has begun its first, its second … migration, and rerun from there."""
    with empty_database.connect() as look:
        for _ in range(len(known_migrations())):
            before = check(look).version
            with migrator(empty_database.dsn) as process:
                go(process)
                eventually(lambda p=process, v=before: p.poll() is not None or check(look).version > v, 60.0)
                assert process.poll() in (None, 0), process.communicate()
                process.kill()
            eventually(lambda: no_migrator(look))
            if not check(look).pending:
                break
        migrate(empty_database.dsn)
        check(look).require()


def waits_for(conn: psycopg.Connection[tuple[int]], key: int) -> bool:
    row = conn.execute(
        "select count(*) from pg_locks where locktype = 'advisory' and not granted and objid = %s", [key]
    ).fetchone()
    return row is not None and row[0] > 0


def no_migrator(conn: psycopg.Connection[tuple[int]]) -> bool:
    row = conn.execute(
        "select count(*) from pg_stat_activity where application_name = 'postmill migrate'"
        " and datname = current_database()"
    ).fetchone()
    return row is not None and row[0] == 0
