"""The processes of a case, its own server, and the command."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from postmill.bench import BenchError, run
from postmill.bench.fleet import Fleet
from tests.support.databases import Database


def test_a_process_that_ends_too_early_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BenchError, match="ended too early, with exit status 1"):
        Fleet("postmill.bench.nowhere", [{}, {}]).__enter__()
    assert "No module named" in capfd.readouterr().err


def test_leaving_a_fleet_ends_its_processes(empty_database: Database) -> None:
    order = {"dsn": empty_database.dsn, "schema": "public", "mode": "two_rows", "threads": 1, "jobs": 1}
    with pytest.raises(BenchError):  # there is no schema: it ends while it gets ready
        Fleet("postmill.bench.client_child", [order]).__enter__()
    assert empty_database.backends() == []


def test_a_case_starts_a_server_of_its_own_and_removes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    answer = run("throughput", None, {"jobs": 500}, lambda text: None)
    assert answer["jobs_per_s"] > 0
    assert list(tmp_path.iterdir()) == []


def test_the_command_prints_one_json_object(empty_database: Database) -> None:
    argv = [sys.executable, "-m", "postmill", "bench", "throughput", "--jobs", "500", "--json"]
    done = subprocess.run([*argv, "--dsn", empty_database.dsn], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["case"] == "throughput"
    assert "jobs/s" in done.stderr
