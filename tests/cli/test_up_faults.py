"""`postmill up` when something goes wrong."""

import os
import signal

from tests.cli.processes import running
from tests.cli.support import cli
from tests.support.eventually import eventually

READY = r"ready; Ctrl-C drains and stops, the data is kept"


def test_what_is_killed_comes_back_and_a_port_is_kept(shop):
    """The database server, and the worker by one of its jobs; meanwhile nobody else gets the port."""
    with running(shop, "up", "jobs.py", "--port", "0") as up:
        up.says(READY, 45)
        assert cli("enqueue", "greet", "name=Ada", "--wait", "--timeout", "30s").code == 0
        os.kill(int((shop / ".postmill/postgres/postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        up.says("the database server runs again", 45)
        assert cli("enqueue", "greet", "name=Bob", "--wait", "--timeout", "30s").code == 0
        assert len(cli("jobs", "list", "--status", "succeeded", "--json").json["jobs"]) == 2

        port = up.says(r"metrics +http://127.0.0.1:(\d+)/", 45)[1]
        answer = cli("up", "--data", "other", "--port", port)
        assert answer.code == 1
        assert f"port {port} on 127.0.0.1 is in use" in answer.err

        begun = up.err.count('"event":"worker_started"')
        cli("enqueue", "kill_me")
        up.says("killed by SIGKILL; a new one starts in")
        eventually(lambda: up.err.count('"event":"worker_started"') > begun, 30)
        assert cli("enqueue", "greet", "name=Cy", "--wait", "--timeout", "30s").code == 0
        up.signal(signal.SIGTERM)
        assert up.ends() == 0


def test_after_a_kill_it_starts_again_and_takes_nothing_out_of_its_file(shop):
    """The second time from a shell that has sourced the file, as the tutorial says."""
    file = shop / ".postmill/postmill.env"
    with running(shop, "up", "jobs.py", "--port", "0") as up:
        up.says(READY, 45)
        before = file.read_text()
        os.kill(up.process.pid, signal.SIGKILL)
        up.ends()
        eventually(lambda: '"event":"worker_stopped"' in up.err, 30)
    found = dict(line.split("=", 1) for line in before.splitlines())
    store = {"POSTMILL_ARTIFACTS__URL": found["POSTMILL_ARTIFACTS__URL"].strip("'")}
    with running(shop, "up", "jobs.py", "--port", "0", env=store) as up:
        up.says(READY, 45)
        assert f"POSTMILL_ARTIFACTS__URL='{store['POSTMILL_ARTIFACTS__URL']}'" in file.read_text()
        up.signal(signal.SIGTERM)
        assert up.ends() == 0


def test_what_is_wrong_is_said_before_a_server_starts(shop):
    answer = cli("up", "job.py")
    assert answer.code == 2
    assert "did you mean jobs.py?" in answer.err
    assert not (shop / ".postmill").exists()
