"""Resources under the commands: closed on SIGTERM, and a clear end where one cannot be opened."""

import signal

from tests.cli.processes import running
from tests.cli.support import cli

JOBS = """
import os
from collections.abc import Iterator

from postmill import Context, job, resource


@resource
def model() -> Iterator[str]:
    if os.environ.get("BROKEN"):
        raise OSError("no such model")
    yield "a model"
    open(f"closed-{os.getpid()}", "w").close()


@job
def use(ctx: Context) -> str:
    return ctx.resource(model)
"""

FAILED = "error: resource jobs.model could not be opened: OSError: no such model"


def test_up_opens_and_closes_them(dsn, here):
    (here / "jobs.py").write_text(JOBS)
    with running(here, "up", "jobs.py", "--dsn", dsn, "--port", "0") as up:
        up.says('"event":"worker_started"')
        done = cli("enqueue", "use", "--wait", "--timeout", "20s", dsn=dsn)
        assert (done.code, done.out) == (0, '"a model"\n')
        assert not list(here.glob("closed-*"))
        up.signal(signal.SIGTERM)
        assert up.ends() == 0
    assert len(list(here.glob("closed-*"))) == 1


def test_one_that_cannot_be_opened_ends_the_command(dsn, here):
    (here / "jobs.py").write_text(JOBS)
    for words in (["worker"], ["worker", "--processes", "2"], ["up"]):
        command, *options = words
        with running(here, command, "jobs.py", *options, "--dsn", dsn, env={"BROKEN": "1"}) as started:
            assert started.ends() == 7
            assert FAILED in started.err
            assert "a new one starts" not in started.err
    assert cli("workers", "list", "--json", dsn=dsn).json == []
