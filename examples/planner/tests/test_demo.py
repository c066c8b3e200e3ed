"""`make example NAME=planner` on a small scale: every act, nothing left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.staging.children import ROOT
from tests.support.eventually import eventually

pytestmark = pytest.mark.timeout(400)  # a whole demo, on a machine that may be busy


def play(data: Path, *arguments: str) -> str:
    """The demo to its end; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "examples.planner", "--data", str(data), *arguments],
        cwd=data.parent, env={**os.environ, "COLUMNS": "150"}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def look(data: Path, said: str) -> None:
    """What every run says."""
    assert "\x1b" not in said, "plain where it is no terminal"
    assert "4 channels, each once; 7 attempts" in said
    assert "Moved “Load-in” from 08:00 to 08:30." in said
    assert "planning.conflict-scan: user pete may not plan" in said
    assert re.search(r"│ q:critical +│ +1 │ +1 │ +10 s │", said)
    assert "Every act ended as it should." in said
    logs = "".join(log.read_text(errors="replace") for log in data.glob("*.log"))
    assert "@example.org" not in logs
    assert "+31600000001" not in logs


def test_the_story_of_the_festival(tmp_path: Path) -> None:
    data = tmp_path / "demo data"
    look(data, play(data, "--missions", "10"))
    eventually(lambda: not _processes_of(data), 10.0, "the end of all processes")


@pytest.mark.long
def test_the_story_at_full_length_and_once_more(tmp_path: Path) -> None:
    data = tmp_path / "demo data"
    look(data, play(data))
    look(data, play(data, "--missions", "10"))


def _processes_of(data: Path) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if os.fsencode(data) in words:
                found.append(words[:80].decode(errors="replace"))
    return found
