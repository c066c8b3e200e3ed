"""A second signal ends a worker process within seconds, whatever its handlers do, and what it held runs elsewhere."""

import os
import signal
from contextlib import ExitStack
from time import monotonic

import pytest

from tests.cli.processes import running
from tests.cli.support import cli
from tests.support.eventually import eventually
from tests.support.invariants import invariants

READY = r'"event":"worker_started"'

JOBS = """
import asyncio
import os
import time

from postmill import job


def first(name: str) -> bool:
    try:
        open(name, "x").close()
    except FileExistsError:
        return False
    return True


@job(queue="threads")
def in_a_thread() -> str:
    if first("in_a_thread"):
        time.sleep(60)
    return "again"


@job(queue="deaf")
async def deaf() -> str:
    if first("deaf"):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                pass
    return "again"


@job(queue="blocking")
async def blocking() -> str:
    if first("blocking"):
        time.sleep(60)
    return "again"
"""

QUEUES = {"in_a_thread": "threads", "deaf": "deaf", "blocking": "blocking"}
LEASE = {"POSTMILL_WORKER__LEASE": "2s"}
MOST = 5.0


@pytest.fixture(autouse=True)
def jobs(here):
    (here / "jobs.py").write_text(JOBS)


def results(dsn):
    found = cli("jobs", "list", "--json", dsn=dsn).json["jobs"]
    return {job["job_type"]: job["status"] for job in found}


def run_again(here, dsn, pg, *names):
    with running(here, "worker", "jobs.py", dsn=dsn, env=LEASE) as other:
        eventually(lambda: results(dsn) == dict.fromkeys(names, "succeeded"), 30)
        other.signal(signal.SIGTERM)
        assert other.ends() == 0
    invariants(pg)


def test_whatever_the_handler_does(dsn, here, pg):
    with ExitStack() as stack:
        workers = [
            stack.enter_context(running(here, "worker", "jobs.py", "-q", f"{queue}=1", dsn=dsn, env=LEASE))
            for queue in QUEUES.values()
        ]
        for worker in workers:
            worker.says(READY)
        for name in QUEUES:
            cli("enqueue", name, dsn=dsn)
            eventually((here / name).exists, 30)
        for worker in workers:
            worker.signal(signal.SIGINT)
        for worker in workers[:2]:  # the third has no loop that could say anything
            worker.says("draining; once more ends at once")
        began = monotonic()
        for worker in workers:
            worker.signal(signal.SIGTERM)
        assert [worker.ends() for worker in workers] == [128 + signal.SIGTERM] * 3
        assert monotonic() - began < MOST
        for worker in workers[:2]:
            assert "1 interrupted and given back, 1 abandoned" in worker.out, worker.out + worker.err
    run_again(here, dsn, pg, *QUEUES)


def test_of_several_processes(dsn, here, pg):
    words = ["worker", "jobs.py", "-p", "2", "-q", "threads=1,blocking=2"]
    with running(here, *words, dsn=dsn, env=LEASE) as worker:
        eventually(lambda: worker.err.count('"event":"worker_started"') == 2, 30)
        for name in ("in_a_thread", "blocking"):
            cli("enqueue", name, dsn=dsn)
            eventually((here / name).exists, 30)
        os.killpg(worker.process.pid, signal.SIGINT)
        worker.says("draining; once more ends at once")
        began = monotonic()
        os.killpg(worker.process.pid, signal.SIGINT)
        assert worker.ends() == 128 + signal.SIGINT
        assert monotonic() - began < MOST
    run_again(here, dsn, pg, "in_a_thread", "blocking")


def test_under_up(dsn, here, pg):
    with running(here, "up", "jobs.py", "--port", "0", "--dsn", dsn, env=LEASE) as up:
        up.says("ready; Ctrl-C drains", 45)
        cli("enqueue", "in_a_thread", dsn=dsn)
        eventually((here / "in_a_thread").exists, 30)
        os.killpg(up.process.pid, signal.SIGINT)
        up.says("draining; once more ends at once")
        began = monotonic()
        os.killpg(up.process.pid, signal.SIGINT)
        assert up.ends() == 128 + signal.SIGINT
        assert monotonic() - began < MOST
    run_again(here, dsn, pg, "in_a_thread")
