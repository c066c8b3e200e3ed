"""`make demo`: every type that is served does visible work for both portals, failures heal, an incident opens and closes, and
however it is stopped nothing is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from examples.homepage.demo.workers import not_shown
from examples.homepage.job_types import JobType
from examples.staging.children import ROOT
from postmill import Registry
from tests.support.eventually import eventually
from tests.support.processes import working_in

pytestmark = [
    pytest.mark.timeout(400),  # a whole demo, on a machine that may be busy
    pytest.mark.usefixtures("forked"),
]
ENV = {**os.environ, "COLUMNS": "120", "PYTHONPATH": str(ROOT)}
NO_BROWSER = ENV | {"PATH": str(Path(sys.executable).parent)}
LINK = "console, log in once: "
WITHOUT = "not shown: apt-get install chromium"
DEED = re.compile(r"^([A-Z_]+)  +(\d+)  (\S.*?)  +(\S.*?) *$", re.MULTILINE)


def command(data: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "examples.homepage", "--data", str(data), *arguments]


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder with a space in its name.

    At the end no process may be left that works in it, and nothing is beside it but what tells `postmill` of the database.
    """
    folder = tmp_path / "demo data"
    yield folder
    eventually(lambda: not working_in(folder), 10.0, "the end of all processes")
    assert {path.name for path in tmp_path.iterdir()} <= {folder.name, ".postmill"}


@contextmanager
def playing(data: Path) -> Iterator[tuple[subprocess.Popen[str], Iterator[str]]]:
    """A demo until it is stopped, and what it says, line by line; there is no Chromium for it."""
    with subprocess.Popen(
        command(data, "--seconds", "300"),
        cwd=data.parent, env=NO_BROWSER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    ) as demo:  # fmt: skip
        assert demo.stdout is not None
        yield demo, iter(demo.stdout.readline, "")


def looked_at(said: str) -> None:
    """What a demo says that had the time for all of it."""
    assert "\x1b" not in said, "plain where it is no terminal"
    assert "Traceback" not in said
    assert re.search(r"worker DEFAULT\S* \(process \d+\) was killed", said)
    assert re.search(r"worker DEFAULT\S* was replaced by process \d+", said)
    for state in ("opened", "closed"):
        assert f"● {state}: 1 worker is silent and not replaced" in said, said
    for fault in ("http_503", "http_429"):
        assert re.search(rf"^RSS_FEED_REFRESH +{fault} +[1-9]\d* +[1-9]", said, re.MULTILINE), said
    for portal in ("village", "harbour"):
        assert re.search(rf"^{portal} +[1-9]\d* ", said, re.MULTILINE), said
    assert "None lost, none twice" in said


def did(said: str) -> set[str]:
    """The types that have done something for both portals."""
    found = set()
    for name, done, *portals in DEED.findall(said):
        # At most hours of the day there are few requests for prices left.
        enough = any if name == JobType.STOCK_REFRESH else all
        if int(done) and enough(re.match(r"[1-9]", portal) for portal in portals):
            found.add(name)
    return found


def until(lines: Iterator[str], what: str) -> str:
    """What is said up to a line that has this in it, which is there."""
    said = ""
    for line in lines:
        said += line
        if what in line:
            return said
    pytest.fail(f"it ended before {what!r}: {said}")


@pytest.mark.dear(30)
def test_until_it_is_stopped(data: Path) -> None:
    """By Ctrl-C before everything has begun; by SIGKILL when the first of its processes are there. Then it begins again on what
    is there, its console answers, and Ctrl-C ends it with a summary once all has healed."""
    with playing(data) as (demo, lines):
        until(lines, "✓ PostgreSQL")
        demo.send_signal(signal.SIGINT)
        assert "Stopped. What there is is in" in "".join(lines)
    assert demo.returncode == 130

    with playing(data) as (demo, lines):
        until(lines, "✓ stand-ins")
        port = (data / "wild_pages.port").read_text()
        demo.kill()

    # What a killed demo leaves is its PostgreSQL, which the next one ends.
    with playing(data) as (demo, lines):
        said = until(lines, LINK)
        assert (data / "wild_pages.port").read_text() == port, "jobs that wait since then name its pages"
        answer = httpx.get(said.rpartition(LINK)[2].strip(), follow_redirects=True)
        assert answer.status_code == 200
        said += until(lines, "● closed: 1 worker")
        demo.send_signal(signal.SIGINT)
        said += "".join(lines)
    assert demo.returncode == 0, said
    looked_at(said)
    assert re.search(rf"^{JobType.SCREENSHOT_CAPTURE} +{WITHOUT}", said, re.MULTILINE), said
    assert did(said) == {*JobType} - {JobType.SCREENSHOT_CAPTURE}, said


@pytest.mark.long
def test_a_minute_of_two_portals(data: Path) -> None:
    """With Chromium where there is one, after a run that was killed in the middle of its work."""
    with playing(data) as (demo, lines):
        until(lines, "● opened")
        demo.kill()
    done = subprocess.run(
        command(data, "--seconds", "55"),
        cwd=data.parent, env=ENV, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    looked_at(done.stdout)
    missing = set(not_shown(Registry.collect("examples.homepage.jobs")))
    assert did(done.stdout) == {*JobType} - missing, done.stdout
    if not missing:
        assert re.search(r"^CDN_UPLOAD +[1-9]", done.stdout, re.MULTILINE), done.stdout
