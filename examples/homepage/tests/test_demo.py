"""`make demo` for a minute: every type that is served runs, failures heal, an incident opens and closes, nothing is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from examples.homepage.demo.workers import not_shown
from examples.staging.children import ROOT
from postmill import Registry
from tests.support.eventually import eventually
from tests.support.processes import working_in

pytestmark = [
    pytest.mark.timeout(400),  # a whole demo, on a machine that may be busy
    pytest.mark.usefixtures("forked"),
]
ENV = {**os.environ, "COLUMNS": "120", "PYTHONPATH": str(ROOT)}
SERVED = Registry.collect("examples.homepage.jobs")


def command(data: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "examples.homepage", "--data", str(data), *arguments]


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder with a space in its name. At the end no process may be left that works in it."""
    folder = tmp_path / "demo data"
    yield folder
    eventually(lambda: not working_in(folder), 10.0, "the end of all processes")


@pytest.mark.dear(70)
def test_a_minute_of_two_portals(data: Path) -> None:
    done = subprocess.run(
        command(data, "--seconds", "55"),
        cwd=data.parent,
        env=ENV,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said = done.stdout
    assert done.returncode == 0, said + done.stderr
    assert done.stderr == ""
    assert "\x1b" not in said, "plain where it is no terminal"
    assert re.search(r"console, log in once: http://127\.0\.0\.1:\d+/login\?token=\S+", said)
    ran = dict(re.findall(r"^([A-Z_]+)  .*?(\d+) +\d+ +\d+ *$", said, re.MULTILINE))
    for name in set(SERVED.names) - set(not_shown(SERVED)):
        assert int(ran[name]) > 0, f"{name}: {said}"
    for name, why in not_shown(SERVED).items():
        assert re.search(rf"^{name} +{re.escape(why)}", said, re.MULTILINE)
    for portal in ("village", "harbour"):
        assert re.search(rf"^{portal} +[1-9]\d* ", said, re.MULTILINE), said
    assert re.search(r"worker DEFAULT\S* \(process \d+\) was killed", said)
    assert re.search(r"worker DEFAULT\S* was replaced by process \d+", said)
    for state in ("opened", "closed"):
        assert f"● {state}: 1 worker is silent and not replaced" in said, said
    for fault in ("http_503", "http_429"):
        assert re.search(rf"RSS_FEED_REFRESH │ {fault}.*│ +[1-9]\d* │ +[1-9]\d* │", said), said
    assert "None lost, none twice" in said


def test_it_can_be_stopped_at_any_time(data: Path) -> None:
    """Its console answers while it runs. Killed, it begins again on what is there; Ctrl-C ends it with a summary."""
    ports = []
    for number, code in ((signal.SIGKILL, -9), (signal.SIGINT, 0)):
        with subprocess.Popen(
            command(data),
            cwd=data.parent,
            env=ENV,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as demo:
            assert demo.stdout is not None
            lines = iter(demo.stdout.readline, "")
            link = next(line.partition(": ")[2].strip() for line in lines if line.startswith("console"))
            assert httpx.get(link, follow_redirects=True).status_code == 200
            ports.append((data / "wild_pages.port").read_text())
            demo.send_signal(number)
            rest, _ = demo.communicate(timeout=60)
        assert demo.returncode == code, rest
        assert ("all sums agree" in rest) is (code == 0)
        assert "Traceback" not in rest
    assert ports[0] == ports[1], "jobs that wait since the first run name its pages"
