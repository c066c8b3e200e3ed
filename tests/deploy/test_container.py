"""A worker as a container runs it: the first process, told to stop by SIGTERM."""

from __future__ import annotations

import os
import re
import signal
from typing import Any

import psycopg
import pytest

from tests.journey import handlers
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.fleet import HANDLERS
from tests.support.spawner import ROOT, spawner


def test_process_1_drains_at_sigterm(database: Database, pg: psycopg.Connection[Any]) -> None:
    if os.geteuid() != 0:
        pytest.skip("not run: process ids of its own need root; run the tests as root")
    pg.execute(handlers.SCHEMA)
    pg.execute(handlers.REGISTER)
    env = {
        "POSTMILL_DATABASE_URL": database.dsn,
        "PROBE_DSN": database.dsn,
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
    }
    words = ["postmill", "worker", HANDLERS, "--queues", "default=2"]
    worker = spawner().start(words, ROOT, env, module="tests.deploy.first_process", family=False)
    try:
        eventually(lambda: pg.execute("select 1 from postmill.lease").fetchone(), 30, "a worker")
        assert pg.execute("select pid from postmill.worker").fetchall() == [(1,)]
        pg.execute("select postmill.enqueue('p_sleep', '{\"seconds\": 0.3}')")
        eventually(lambda: pg.execute("select 1 from probe").fetchone(), 30, "a running job")
        inner = re.search(r"outside it is (\d+)", worker.output)
        assert inner is not None
        os.kill(int(inner[1]), signal.SIGTERM)
        assert worker.wait(30) == 0, worker.output
        assert pg.execute("select status from postmill.outcome").fetchall() == [("succeeded",)]
        assert pg.execute("select event from probe order by at").fetchall() == [("start",), ("end",)]
    finally:
        worker.close()
