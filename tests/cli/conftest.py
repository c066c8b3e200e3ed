import sys

import pytest

from postmill.cli.database import open_connection
from postmill.operate.doctor.examine import CHECKS
from postmill.operate.doctor.probe import Probe
from tests.cli.jobs_module import write_jobs
from tests.cli.staging import Stage


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of the test's own, and the current one; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def stage(pg):
    """Jobs in any state."""
    return Stage(pg)


@pytest.fixture
def look(dsn):
    """One check, by its name."""

    def one(name, **more):
        with open_connection(dsn) as conn:
            return CHECKS[name](Probe(conn, "postmill", lambda: open_connection(dsn), **more))

    return one


@pytest.fixture
def five(stage):
    """One job in each of five states, by state."""
    stage.register("greet")
    stage.register("other", queue="low")
    stage.open("greet")
    ids = [stage.enqueue("greet", f'{{"n": {n}}}') for n in range(4)]
    stage.claim()
    stage.succeed(ids[0], '"done"')
    stage.bury(ids[1], "no \x1b[31mluck")
    stage.retry_later(ids[2])
    return {
        "succeeded": ids[0],
        "dead_letter": ids[1],
        "scheduled": ids[2],
        "running": ids[3],
        "queued": stage.enqueue("other"),
    }


@pytest.fixture
def shop(here, monkeypatch):
    """A folder with a space in its path, and a module."""
    folder = here / "my shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write_jobs(folder)
    return folder
