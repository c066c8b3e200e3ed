"""Several processes of one `postmill worker`: shares, crashes, a parent that is gone, retirement."""

import json
import os
import signal

import pytest

from tests.cli.jobs_module import write_jobs
from tests.cli.processes import running
from tests.cli.support import cli
from tests.support.eventually import eventually
from tests.support.invariants import invariants

READY = r'"event":"worker_started"'


@pytest.fixture(autouse=True)
def jobs(here):
    return write_jobs(here)


def statuses(dsn):
    return [job["status"] for job in cli("jobs", "list", "--json", dsn=dsn).json["jobs"]]


def test_processes_share_the_slots_and_drain_together(dsn, here, pg):
    words = ["--queues", "HIGH=3,default=1", "--processes", "2"]
    with running(here, "worker", "jobs.py", *words, "--json", dsn=dsn) as worker:
        worker.says(r"2 processes share high=3, default=1")
        eventually(lambda: worker.err.count('"event":"worker_started"') == 2, 30)
        slots = sorted(json.dumps(w["slots"]) for w in cli("workers", "list", "--json", dsn=dsn).json)
        assert (
            slots == ['{"high": 1}', '{"high": 2, "default": 1}']
            or sum(json.loads(text).get("high", 0) for text in slots) == 3
        )
        for _ in range(20):
            cli("enqueue", "who", dsn=dsn)
        eventually(lambda: statuses(dsn) == ["succeeded"] * 20, 30)
        os.killpg(worker.process.pid, signal.SIGINT)  # Ctrl-C in a terminal: every process hears it
        assert worker.ends() == 0
        assert json.loads(worker.out)["succeeded"] == 20
    assert all(w["state"] == "stopped" for w in cli("workers", "list", "--json", dsn=dsn).json)
    invariants(pg)


def test_a_process_that_was_killed_is_started_again(dsn, here, pg):
    with running(here, "worker", "jobs.py", "-p", "2", "-q", "high=2", dsn=dsn) as worker:
        eventually(lambda: worker.err.count('"event":"worker_started"') == 2, 30)
        [first, _] = cli("workers", "list", "--json", dsn=dsn).json
        os.kill(first["pid"], signal.SIGKILL)
        worker.says(r"killed by SIGKILL; a new one starts in")
        eventually(lambda: worker.err.count('"event":"worker_started"') == 3, 30)
        assert cli("enqueue", "who", "--wait", "--timeout", "20s", dsn=dsn).code == 0
        worker.signal(signal.SIGTERM)
        assert worker.ends() == 0


def test_children_drain_when_their_parent_is_killed(dsn, here, pg):
    with running(here, "worker", "jobs.py", "-p", "2", "-q", "high=2", dsn=dsn) as worker:
        eventually(lambda: worker.err.count('"event":"worker_started"') == 2, 30)
        os.kill(worker.process.pid, signal.SIGKILL)
        eventually(lambda: worker.err.count('"event":"worker_stopped"') == 2, 30)
    eventually(lambda: all(w["state"] == "stopped" for w in cli("workers", "list", "--json", dsn=dsn).json))


def test_a_process_retires_after_so_many_jobs(dsn, here, pg):
    env = {"POSTMILL_WORKER__MAX_JOBS_PER_PROCESS": "3"}
    with running(here, "worker", "jobs.py", "-q", "high=1", dsn=dsn, env=env) as worker:
        worker.says(READY)
        for _ in range(3):
            cli("enqueue", "who", dsn=dsn)
        worker.says(r"exited with 0; a new one starts in")
        assert cli("enqueue", "who", "--wait", "--timeout", "20s", dsn=dsn).code == 0
        worker.signal(signal.SIGTERM)
        assert worker.ends() == 0
    found = cli("jobs", "list", "--json", dsn=dsn).json["jobs"]
    assert [job["status"] for job in found] == ["succeeded"] * 4
