"""The API under load: a server and a PostgreSQL of their own, and the load from a third process, on this machine.

    python -m benchmarks.api.run [--seconds 20] [--jobs 1000000] [--only closed,open,lists]

Prints a line for each measurement: requests a second, latencies, and the CPU that each part took per request, which is
what says how many a machine with nothing else to do can bear.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from postmill.bind import drive
from postmill.domain.access import Role
from postmill.local.server import LocalServer
from postmill.operate.keys import create_key
from postmill.schema.runner import migrate
from tests.contract.million import seed
from tests.support.ports import unused_port

ROOT = Path(__file__).parents[2]
TICK = os.sysconf("SC_CLK_TCK")
TENANT = "00000001-0000-0000-0000-000000000000"
LISTS = {
    "all": "",
    "queued": "status=queued",
    "scheduled": "status=scheduled",
    "running": "status=running",
    "succeeded": "status=succeeded",
    "failed": "status=failed",
    "dead_letter": "status=dead_letter",
    "manual": "source=manual",
    "event": "source=event",
    "of a definition": "definition_key=plain",
    "of none": "definition_key=other",
    "offset": "offset=1000",
    "since": "created_after=2026-01-01T00:00:00Z",
}


def cpu_of(pids: list[int]) -> float:
    """Seconds of CPU that these processes and their ended children took."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / TICK


def children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [pid, *map(int, found.split())]


@contextmanager
def served(dsn: str, port: int) -> Iterator[int]:
    """`postmill server`, with no limit on the rate of a key."""
    env = os.environ | {"POSTMILL_DATABASE_URL": dsn, "POSTMILL_SERVER__RATE_PER_KEY": "1000000"}
    server = subprocess.Popen(
        [sys.executable, "-m", "postmill", "server", "--port", str(port)], cwd=ROOT, env=env
    )
    try:
        wait_for(port)
        yield server.pid
    finally:
        server.terminate()
        server.wait()


def wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server did not come up")


def measured(what: str, pids: dict[str, list[int]], *words: str) -> None:
    before = {name: cpu_of(some) for name, some in pids.items()}
    command = [sys.executable, "-m", "benchmarks.api.load", *words]
    answer = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(answer.stdout)
    for name, some in pids.items():
        figures[f"{name}_cpu_us_each"] = round(
            (cpu_of(some) - before[name]) / max(1, figures["requests"]) * 1e6, 1
        )
    print(json.dumps({"what": what, **figures}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--only", default="closed,open,lists")
    options = parser.parse_args()
    only = options.only.split(",")
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalServer(Path(folder) / "pg", settings={"shared_buffers": "256MB"}) as own,
    ):
        dsn = own.dsn()
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            tenant = conn.execute(
                "insert into postmill.tenant (id, slug, name) values (%s, 'hog', 'hog') returning slug",
                [TENANT],
            ).fetchone()
            assert tenant is not None
            key = drive(conn, create_key("load", Role.TENANT_ADMIN, tenant=tenant[0])).key
            platform = drive(conn, create_key("load", Role.SUPER_ADMIN)).key
            if "lists" in only:
                seed(conn, options.jobs)
            else:
                conn.execute("""select * from postmill.register_job_types('[{"key": "plain"}]')""")
        port = unused_port()
        assert own.pid is not None
        with served(dsn, port) as pid:
            wait_for(port)
            pids = {"server": children(pid), "postgres": [own.pid]}
            common = ("--port", str(port), "--key", key, "--seconds", str(options.seconds))
            measured(
                "warm up", pids, *common[:4], "--seconds", "2", "--mode", "closed", "--connections", "16"
            )
            pids["postgres"] = children(own.pid)
            if "closed" in only:
                measured(
                    "closed loop, 64 connections", pids, *common, "--mode", "closed", "--connections", "64"
                )
            if "open" in only:
                words = ("--mode", "open", "--rate", "500", "--connections", "200")
                measured("open loop, 500/s over 200 connections", pids, *common, *words)
            if "lists" in only:
                for name, query in LISTS.items():
                    for who, one in (("tenant", key), ("platform", platform)):
                        words = (
                            "--mode",
                            "closed",
                            "--connections",
                            "1",
                            "--method",
                            "GET",
                            "--path",
                            f"/api/v1/jobs?{query}",
                        )
                        measured(
                            f"list {name}, {who}",
                            pids,
                            "--port",
                            str(port),
                            "--key",
                            one,
                            "--seconds",
                            "3",
                            *words,
                        )
                measured("summary, tenant", pids, *common[:4], "--seconds", "3", "--mode", "closed", "--connections", "1",
                         "--method", "GET", "--path", "/api/v1/jobs/summary")  # fmt: skip


if __name__ == "__main__":
    main()
