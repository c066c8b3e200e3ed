"""`make example NAME=enrichment` on a small scale: plain output, exit codes, twice in a row, Ctrl-C, nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from examples.staging.children import ROOT
from examples.upstreams.script import Answer, Rule, Script
from tests.support.eventually import eventually
from tests.support.processes import working_in

pytestmark = [
    pytest.mark.timeout(400),  # whole demos, on machines that may be busy
    pytest.mark.usefixtures("forked"),
]
ENV = {**os.environ, "COLUMNS": "100", "PYTHONPATH": str(ROOT)}
SMALL = ["--items", "20", "--workers", "1"]


def command(data: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "examples.enrichment.demo", "--data", str(data), *SMALL, *arguments]


def run(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The demo to its end, its output not a terminal."""
    return subprocess.run(
        command(data, *arguments),
        cwd=data.parent,
        env=ENV,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder with a space in its name. At the end no process may be left that works in it."""
    folder = tmp_path / "demo data"
    yield folder
    eventually(lambda: not working_in(folder), 10.0, "all processes' having ended")


def test_it_works(data: Path) -> None:
    done = run(data)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\x1b" not in done.stdout, "plain where it is no terminal"
    assert re.search(r"20 items ready to confirm, 0 discarded, none lost", done.stdout)
    assert re.search(r"captured 20/20  enriched 20", done.stdout)
    assert "Languages" in done.stdout
    assert "429: come back in 1 s" in done.stdout
    assert re.search(r"Everything is kept in .*demo data", done.stdout)
    assert done.stderr == ""


@pytest.mark.long
def test_a_killed_worker_is_survived(data: Path) -> None:
    done = run(data, "--workers", "2", "--items", "60", "--kill-worker")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "worker 2" in done.stdout
    assert "none lost" in done.stdout


@contextmanager
def under_way(data: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A demo that captures slowly, and what it has said so far."""
    with subprocess.Popen(
        command(data, "--items", "60", "--rate", "2"),
        cwd=data.parent,
        env=ENV,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as demo:
        assert demo.stdout is not None
        seen = ""
        while "captured" not in seen:
            line = demo.stdout.readline()
            assert line, seen
            seen += line
        yield demo, seen


def test_however_it_ends_the_folder_is_as_good_as_before(data: Path) -> None:
    """By Ctrl-C, by the end of its worker, by SIGKILL: nothing is left running, and the next run is a whole one, which
    says so when items failed."""
    with under_way(data) as (demo, _):
        demo.send_signal(signal.SIGINT)
        rest, _ = demo.communicate(timeout=60)
    assert demo.returncode == 130
    assert "Stopped" in rest
    assert "Traceback" not in rest
    eventually(lambda: not working_in(data), 10.0, "the end of all processes after Ctrl-C")

    with under_way(data) as (demo, seen):
        found = re.search(r"processes (\d+)", seen)
        assert found
        os.kill(int(found[1]), signal.SIGKILL)
        rest, _ = demo.communicate(timeout=60)
    assert demo.returncode == 2
    assert "worker 1 ended with code -9" in rest
    assert "Traceback" not in rest
    eventually(lambda: not working_in(data), 10.0, "the end of all processes after that of the worker")

    with under_way(data) as (demo, _):
        demo.kill()
        demo.communicate()
    script = Script(rules=(Rule(every=10, answers=(Answer(status=422),)),))
    done = run(data, "--script", script.model_dump_json())
    assert done.returncode == 1, done.stdout + done.stderr
    assert "18 items ready to confirm, 0 discarded, 2 failed" in done.stdout
    assert "dead list" in done.stdout
    assert "0 of 2" in done.stdout


def test_a_folder_in_use_is_said(data: Path) -> None:
    data.mkdir()
    (data / "postgres").write_text("no cluster at all")
    done = run(data)
    assert done.returncode == 2
    assert "The demo cannot go on" in done.stdout
    assert "Traceback" not in done.stderr
