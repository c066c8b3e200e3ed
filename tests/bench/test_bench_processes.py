"""The processes of a case, its own server, and the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from postmill.bench import BenchError
from postmill.bench.fleet import Fleet
from tests.support.databases import Database

pytestmark = pytest.mark.usefixtures("forked")


def test_a_process_that_ends_too_early_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BenchError, match="ended too early, with exit status 1"):
        Fleet("postmill.bench.nowhere", [{}, {}]).__enter__()
    assert "No module named" in capfd.readouterr().err


def test_leaving_a_fleet_ends_its_processes(empty_database: Database) -> None:
    order = {"dsn": empty_database.dsn, "schema": "public", "mode": "two_rows", "threads": 1, "jobs": 1}
    with pytest.raises(BenchError):  # there is no schema: it ends while it gets ready
        Fleet("postmill.bench.client_child", [order]).__enter__()
    assert empty_database.backends() == []


def test_the_command_starts_a_server_of_its_own_and_prints_one_json_object(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("POSTMILL_")}
    argv = [sys.executable, "-m", "postmill", "bench", "schedules", "--schedules", "200", "--due", "20",
            "--rounds", "1", "--json"]  # fmt: skip
    done = subprocess.run(argv, env=env | {"TMPDIR": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["case"] == "schedules"
    assert {"jobs_per_s", "limit_per_s", "ratio", "versions", "settings"} <= set(answer)
    assert done.stderr == "", "progress is for a terminal"
    assert list(tmp_path.iterdir()) == []
