"""`make example NAME=photos` on a small scale: every act, the summary, the contact sheets; nothing left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from examples.photos.demo.tenants import free
from examples.staging.children import ROOT
from tests.support.eventually import eventually
from tests.support.processes import working_in

pytestmark = [
    pytest.mark.timeout(400),  # a whole demo, on a machine that may be busy
    pytest.mark.usefixtures("forked"),
    pytest.mark.dear(50),
]


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder with a space in its name. At the end no process may be left that works in it."""
    folder = tmp_path / "demo data"
    yield folder
    eventually(lambda: not working_in(folder), 10.0, "the end of all processes")


def test_a_second_demo_has_tenants_of_its_own() -> None:
    """Of those of the first everything is known, within minutes even what they are told again."""
    assert [free("bcg", there) for there in ((), ("bcg",), ("bcg", "bcg-2"))] == ["bcg", "bcg-2", "bcg-3"]


def test_the_story_from_pictures_to_tags(data: Path) -> None:
    arguments = [
        "--data",
        str(data),
        "--pictures",
        "40",
        "--new",
        "4",
        "--workers",
        "1",
        "--script",
        '{"latency": [0, 0.02]}',
    ]
    done = subprocess.run(
        [sys.executable, "-m", "examples.photos", *arguments],
        cwd=data.parent, env={**os.environ, "COLUMNS": "150", "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "\x1b" not in done.stdout, "plain where it is no terminal"
    for event in ("provider.connection.changed", "list.created", "provider.folder.updated"):
        assert event in done.stdout
    tenants = re.findall(
        r"│ (bcg|lakeside) +│ 44 +│ .*\(44 pictures\) .* [78] keywords .*│ (\d+) done +│", done.stdout
    )
    assert [slug for slug, _ in tenants] == ["bcg", "lakeside"]
    assert all(int(jobs) >= 9 for _, jobs in tenants)
    assert re.search(r"sync-dropbox +│ +4 │ +2 │", done.stdout), (
        "two by events and one by hand for each tenant"
    )
    assert len(re.findall(r"Next night of \w+ +\S+ 02:00 in New York", done.stdout)) == 2
    for slug in ("bcg", "lakeside"):
        with Image.open(data / f"contact-sheet-{slug}.png") as sheet:
            assert sheet.width > 900
            assert len(sheet.getcolors(1_000_000) or ()) > 1_000
    # The tokens are in the database, but no one could read them, and in no log of ours.
    assert not [log for log in data.glob("*.log") if "sl.u." in log.read_text(errors="replace")]
