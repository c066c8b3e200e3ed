"""The harness itself: it notices what it promises to notice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg import AsyncConnection, Connection

from tests.support import leaks
from tests.support.databases import Database, fresh_database
from tests.support.eventually import aeventually, eventually
from tests.support.invariants import invariants
from tests.support.spawner import ROOT, spawner

LEAKY = """
import pytest, socket, subprocess, sys, threading, time

import tests.support.budget
import tests.support.leaks

tests.support.budget.MOST = 0.3
tests.support.leaks.PATIENCE = 0.1
kept = []

def test_thread():
    done = threading.Event()
    kept.append((done, threading.Thread(target=done.wait, daemon=True, name="forgotten")))
    kept[-1][1].start()

def test_process():
    kept.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))

def test_descriptor():
    kept.append(socket.socket())

def burnt():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass

def test_dear():
    burnt()

@pytest.mark.long
def test_dear_and_long():
    burnt()

def test_clean():
    with socket.socket():
        pass
"""


def test_a_leak_fails_the_test_that_made_it_and_so_does_what_it_cost(tmp_path: Path) -> None:
    (tmp_path / "test_leaky.py").write_text(LEAKY)
    options = [
        "-p",
        "tests.support.leaks",
        "-p",
        "tests.support.budget",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        tmp_path,
        "-q",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, tmp_path], cwd=ROOT, capture_output=True, text=True
    )
    assert "6 passed" in done.stdout, done.stdout
    assert "4 errors" in done.stdout, done.stdout
    assert done.stdout.count("s of processor, and 0.3 s is the most") >= 1
    assert "left behind: thread forgotten" in done.stdout
    assert "left behind: descriptor" in done.stdout
    assert "process" in done.stdout


def test_what_the_zygote_started_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    spawner()
    monkeypatch.setattr(leaks, "PATIENCE", 0.1)
    before = leaks.held()
    with open(os.devnull, "w") as out:
        streams = (None, out.fileno(), out.fileno())
        module, function = "tests.support.docs.notebook", "run_program"
        process = spawner().fork(["sleep", "60"], ROOT, os.environ, streams, module=module, function=function)
    [left] = leaks.left(before)
    assert f"process {process.pid}" in left
    process.kill()
    assert leaks.left(before) == set()


def test_a_connection_left_open_fails_the_test(cluster: Any, template: str) -> None:
    left: list[Connection[Any]] = []
    with (
        pytest.raises(AssertionError, match="database without connections"),
        fresh_database(cluster, template, patience=0.2) as database,
    ):
        left.append(database.connect(application_name="forgotten"))
    left[0].close()


async def test_the_fixtures_are_one_database_in_autocommit(
    database: Database, pg: Connection[Any], apg: AsyncConnection[Any], dsn: str
) -> None:
    assert pg.autocommit
    assert apg.autocommit
    pg.execute("create table seen_by_both as select 1 as n")
    assert await (await apg.execute("select n from seen_by_both")).fetchone() == (1,)
    assert dsn == database.dsn
    assert len(database.backends()) == 2


async def test_a_condition_that_never_comes_says_what_the_last_answer_was() -> None:
    with pytest.raises(
        AssertionError, match=r"the queue is empty was not so within 0.05 s; last answer: \[\]"
    ):
        eventually(list, 0.05, "the queue is empty")
    with pytest.raises(AssertionError, match="last answer: 0"):
        await aeventually(int, 0.05)


def test_a_ticket_without_a_body_breaks_the_invariants(pg: Connection[Any]) -> None:
    invariants(pg)
    pg.execute(
        "insert into postmill.ready (queue, lane, priority, ready_at, id, attempt, run, lost)"
        " values ('default', %s, 100, now(), postmill.new_id(), 1, 1, 0)",
        [UUID(int=0)],
    )
    with pytest.raises(AssertionError, match="no_body"):
        invariants(pg)
