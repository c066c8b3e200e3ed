"""`postmill worker` as real processes: signals, several processes, crashes, a database that comes later."""

import json
import os
import re
import signal
import socket

import pytest

from tests.cli.support import cli, running, write_jobs
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
    with running(here, "worker", "jobs.py", dsn=dsn) as worker:
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
        assert re.search(r"drained after [\d.]+ s: 1 succeeded", worker.out)
    invariants(pg)


def test_sigterm_lets_the_running_job_finish(dsn, here, pg):
    with running(here, "worker", "jobs.py", "--json", dsn=dsn) as worker:
        worker.says(READY)
        cli("enqueue", "nap", "seconds=1.5", "started=began", dsn=dsn)
        eventually((here / "began").exists)
        worker.signal(signal.SIGTERM)
        worker.says("draining; once more ends at once")
        assert worker.ends() == 0
        summary = json.loads(worker.out)
        assert (summary["exit_code"], summary["succeeded"], summary["interrupted"]) == (0, 1, 0)
    assert statuses(dsn) == ["succeeded"]
    invariants(pg)


def test_the_second_signal_ends_at_once_and_gives_back(dsn, here, pg):
    with running(here, "worker", "jobs.py", dsn=dsn) as worker:
        worker.says(READY)
        cli("enqueue", "nap", "seconds=600", "started=began", dsn=dsn)
        eventually((here / "began").exists)
        worker.signal(signal.SIGINT)
        worker.says("draining")
        worker.signal(signal.SIGTERM)
        assert worker.ends(20) == 128 + signal.SIGTERM
        assert "ended with exit code 143" in worker.out
    [job] = cli("jobs", "list", "--json", dsn=dsn).json["jobs"]
    assert job["status"] in ("queued", "scheduled")
    assert job["attempt"] == 1
    invariants(pg)


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


def test_a_worker_before_its_database(here, own_cluster):
    dsn = own_cluster.dsn()
    own_cluster.stop()
    with running(here, "worker", "jobs.py", dsn=dsn) as worker:
        worker.says("is not reachable yet; waiting")
        own_cluster.start()
        worker.says(READY)
        assert cli("enqueue", "greet", "name=Ada", "--wait", "--timeout", "20s", dsn=dsn).code == 0
        worker.signal(signal.SIGTERM)
        assert worker.ends() == 0


def test_a_drain_while_waiting_for_the_database(here):
    with running(here, "worker", "jobs.py", dsn="host=127.0.0.1 port=1") as worker:
        worker.says("is not reachable yet; waiting")
        worker.signal(signal.SIGTERM)
        assert worker.ends() == 0


def test_a_worker_does_not_migrate(empty_database, here):
    with running(here, "worker", "jobs.py", dsn=empty_database.dsn) as worker:
        assert worker.ends() == 4
        assert "run: postmill migrate" in worker.err


def test_a_database_that_will_never_come(dsn, here):
    for wrong in (dsn.replace("/test_", "/no_such_"), dsn.replace("postgres@", "nobody@")):
        with running(here, "worker", "jobs.py", dsn=wrong) as worker:
            assert worker.ends() == 3
            assert "does not exist" in worker.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere.py"], 2, "no module 'nowhere.py'"),
        (["jobs.py", "--queues", "high=x"], 2, "slots are a whole number"),
        (["jobs.py", "--queues", "hihg=2"], 5, "did you mean 'high'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_starts(here, words, code, said):
    answer = cli("worker", *words, dsn="postgresql:///unused")
    assert answer.code == code
    assert said in answer.err


def test_a_queue_without_job_types(here):
    (here / "postmill.toml").write_text("[queues.low]\nslots = 1\n")
    answer = cli("worker", "jobs.py", "--queues", "low=1", dsn="postgresql:///unused")
    assert answer.code == 2
    assert "no job type of jobs.py belongs to queue low" in answer.err


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


def test_a_port_that_is_taken(dsn, here):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with running(here, "worker", "jobs.py", "--port", str(taken.getsockname()[1]), dsn=dsn) as worker:
            assert worker.ends() == 1
            assert "cannot listen on 127.0.0.1" in worker.err
