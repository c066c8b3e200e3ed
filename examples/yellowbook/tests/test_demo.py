"""`make example NAME=yellowbook` on a small scale: every act, twice in one folder, nothing left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.staging.children import ROOT
from examples.yellowbook.demo.stage import FIRST_KEY
from examples.yellowbook.demo.story import SEARCHES, SECOND_KEY
from tests.support.eventually import eventually

pytestmark = pytest.mark.timeout(400)  # a whole demo, on a machine that may be busy
SMALL = ("--businesses", "16", "--workers", "1", "--latency", "0.1")


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder with a space in its name. At the end no process may be left that works in it."""
    folder = tmp_path / "demo data"
    yield folder
    eventually(lambda: not _processes_of(folder), 10.0, "the end of all processes")


def play(data: Path, *arguments: str) -> str:
    """The demo to its end; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "examples.yellowbook", "--data", str(data), *arguments],
        cwd=data.parent, env={**os.environ, "COLUMNS": "150", "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def look(data: Path, said: str, businesses: int) -> None:
    """What every run says."""
    assert "\x1b" not in said, "plain where it is no terminal"
    assert f"{businesses} businesses want to be found" in said
    for words in SEARCHES:
        assert re.search(rf"│ “{words}” +│ nothing +│ [A-Z]", said)
    assert re.search(r"│ 401 +│ permanent_error +│ 12 +│", said)
    assert re.search(r"│ 429 +│ max_retries_exceeded +│ 3 +│", said)
    assert re.search(r"│ – +│ subject_deleted +│ 1 +│", said)
    assert "12 were replayed with the new key, each once" in said
    for log in data.glob("*.log"):
        text = log.read_text(errors="replace")
        assert FIRST_KEY not in text
        assert SECOND_KEY not in text
    lines = (data / "worker-1.log").read_text()
    assert re.search(r"embedding_job_failed.*willRetry", lines)


def test_the_story_of_the_book(data: Path) -> None:
    look(data, play(data, *SMALL), 16)


@pytest.mark.long
def test_the_story_at_full_length_and_once_more(data: Path) -> None:
    look(data, play(data), 40)
    look(data, play(data, *SMALL), 16)


def _processes_of(data: Path) -> list[str]:
    """Processes whose environment or command line names the data folder."""
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
