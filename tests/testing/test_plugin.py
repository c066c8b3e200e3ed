"""The plugin in a user's project of a few files."""

from __future__ import annotations

import tomllib

import pytest

from tests.support.databases import Database
from tests.support.spawner import ROOT

pytest_plugins = ["pytester"]

JOBS = """
from postmill import job

@job
def add(a: int, b: int) -> int:
    return a + b
"""

TESTS = """
import pytest
from jobs import add
from postmill import enqueue

def test_database(postmill):
    with postmill.conn.transaction():
        enqueue(postmill.conn, add.new(a=1, b=2))
    postmill.assert_enqueued(add, {"a": 1})
    assert postmill.drain(add).succeeded == 1
    postmill.assert_not_enqueued()

def test_own_database_and_clock(postmill, postmill_clock):
    assert postmill.enqueued() == []
    id = postmill.client.enqueue(add.using(delay=60).new(a=1, b=2)).id
    assert postmill.drain(add).succeeded == 0
    postmill_clock.tick(minutes=1)
    assert postmill.drain(add).succeeded == 1
    assert postmill.client.get(id).result == 3

async def test_async(postmill):
    await postmill.aclient.enqueue(add.new(a=3, b=4))
    assert (await postmill.adrain(add)).succeeded == 1
    await postmill.aclient.close()

def test_inline(postmill_inline, postmill_dsn):
    from postmill import Client
    with Client(postmill_dsn) as client:
        client.enqueue(add.new(a=1, b=2))
    assert [one.result for one in postmill_inline] == [3]

def test_the_message(postmill):
    postmill.assert_enqueued(add)
"""


@pytest.mark.parametrize(
    "own",
    [False, pytest.param(True, marks=pytest.mark.long)],
    ids=["a server that is named", "its own server"],
)
def test_a_project(
    pytester: pytest.Pytester, database: Database, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    if not own:
        monkeypatch.setenv("POSTMILL_TEST_SERVER", database.dsn)
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(jobs=JOBS, test_jobs=TESTS)
    done = pytester.runpytest_subprocess(
        "-p", "postmill.testing.plugin", "-p", "pytest_asyncio.plugin", "-p", "no:cacheprovider"
    )
    done.assert_outcomes(passed=4, failed=1)
    done.stdout.fnmatch_lines(["*AssertionError: expected a job 'add', found 0; enqueued are:*", "*nothing*"])
    assert names(database) == 0  # nothing is left on the server


def names(database: Database) -> int:
    with database.connect() as conn:
        found = conn.execute("select count(*) from pg_database where datname ~ '^postmill_test_'").fetchone()
    assert found is not None
    return int(found[0])


def test_the_plugin_comes_with_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"postmill": "postmill.testing.plugin"}
