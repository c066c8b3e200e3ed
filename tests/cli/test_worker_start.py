"""What `postmill worker` says and does before it works: a database that comes later, or is not fit."""

import signal
import socket

import pytest

from tests.cli.jobs_module import write_jobs
from tests.cli.processes import running
from tests.cli.support import cli

READY = r'"event":"worker_started"'


@pytest.fixture(autouse=True)
def jobs(here):
    return write_jobs(here)


def statuses(dsn):
    return [job["status"] for job in cli("jobs", "list", "--json", dsn=dsn).json["jobs"]]


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


def test_a_drain_while_waiting_for_the_server_of_this_folder(here):
    (left := here / ".postmill").mkdir()
    (left / "postmill.env").write_text("POSTMILL_DATABASE_URL='postgresql://postgres@127.0.0.1:1/postgres'\n")
    with running(here, "worker", "jobs.py", dsn=None) as worker:
        worker.says("postmill.env in this folder names does not answer; start it with: postmill up; waiting")
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
        (["nowhere.py"], 2, "expected a file or package, but there is no "),
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
    assert "no job type of jobs.py and no stored command belongs to queue low" in answer.err


def test_a_port_that_is_taken(dsn, here):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with running(here, "worker", "jobs.py", "--port", str(taken.getsockname()[1]), dsn=dsn) as worker:
            assert worker.ends() == 1
            assert "cannot listen on 127.0.0.1" in worker.err
