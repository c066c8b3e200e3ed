"""`postmill worker` as real processes: signals, several processes, crashes, a database that comes later."""

import json
import re
import signal

import pytest

from tests.cli.jobs_module import write_jobs
from tests.cli.processes import running
from tests.cli.support import cli
from tests.support.eventually import eventually
from tests.support.invariants import invariants
from tests.support.ports import unused_port

READY = r'"event":"worker_started"'


@pytest.fixture(autouse=True)
def jobs(here):
    return write_jobs(here)


def statuses(dsn):
    return [job["status"] for job in cli("jobs", "list", "--json", dsn=dsn).json["jobs"]]


def test_a_job_from_enqueue_to_result(dsn, here, pg):
    with running(here, "worker", "jobs.py", "--build", "2026.11.3", dsn=dsn) as worker:
        worker.says(READY)
        done = cli(
            "enqueue", "greet", "name=Ada", "times=3", "loud=yes", "--wait", "--timeout", "20s", dsn=dsn
        )
        assert (done.code, done.out) == (0, '"Hello Ada!"\n')
        assert "succeeded in" in done.err
        failed = cli("enqueue", "fail", "why=\x1b[31mred", "--wait", "--json", dsn=dsn)
        assert failed.code == 1
        assert failed.json["job"]["status"] == "dead_letter"
        assert "ValueError: \\x1b[31mred" in failed.err
        assert f"postmill jobs show {failed.json['id']}" in failed.err
        worker.signal(signal.SIGTERM)
        assert worker.ends() == 0
        assert re.search(
            r"drained in [\d.]+ m?s, up for [\d.]+ m?s: 1 succeeded, 1 dead letter$", worker.out, re.MULTILINE
        )
    assert cli("workers", "list", "--json", dsn=dsn).json[0]["build"] == "2026.11.3"
    attempts = cli("jobs", "show", failed.json["id"], "--json", dsn=dsn).json["attempts"]
    assert [one["build"] for one in attempts] == ["2026.11.3"]
    invariants(pg)


def test_sigterm_lets_the_running_job_finish(dsn, here, pg):
    with running(here, "worker", "jobs.py", "--json", dsn=dsn) as worker:
        worker.says(READY)
        cli("enqueue", "who", "--wait", dsn=dsn)
        cli("enqueue", "nap", "seconds=1.5", "started=began", dsn=dsn)
        eventually((here / "began").exists, 30)
        worker.signal(signal.SIGTERM)
        worker.says("draining; once more ends at once")
        assert worker.ends() == 0
        summary = json.loads(worker.out)
        assert (summary["exit_code"], summary["succeeded"], summary["interrupted"]) == (0, 2, 0)
        assert "a handler prints" in worker.err
    assert statuses(dsn) == ["succeeded"] * 2
    invariants(pg)


def test_the_second_signal_ends_at_once_and_gives_back(dsn, here, pg):
    with running(here, "worker", "jobs.py", dsn=dsn) as worker:
        worker.says(READY)
        cli("enqueue", "nap", "seconds=600", "started=began", dsn=dsn)
        eventually((here / "began").exists, 30)
        worker.signal(signal.SIGINT)
        worker.says("draining")
        worker.signal(signal.SIGTERM)
        assert worker.ends(20) == 128 + signal.SIGTERM
        assert "ended with exit code 143" in worker.out
    [job] = cli("jobs", "list", "--json", dsn=dsn).json["jobs"]
    assert job["status"] in ("queued", "scheduled")
    assert job["attempt"] == 1
    invariants(pg)


def test_upkeep_alone(dsn, here, pg):
    port = unused_port()
    with running(here, "upkeep", "--port", str(port), dsn=dsn) as upkeep:
        upkeep.says(READY)
        upkeep.says(f"metrics at http://127.0.0.1:{port}/metrics")
        cli("jobs", "register", "jobs.py", dsn=dsn)
        cli("enqueue", "greet", "name=x", "--delay", "300ms", dsn=dsn)
        eventually(lambda: statuses(dsn) == ["queued"], 30)
        upkeep.signal(signal.SIGTERM)
        assert upkeep.ends() == 0
