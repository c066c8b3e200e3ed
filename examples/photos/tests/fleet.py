"""Worker processes that run the real `zoltag`, and what to wait for."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

from psycopg.types.json import Jsonb

from examples.photos import bodies
from examples.photos.tests.studio import BIN, Studio, Tenant
from postmill.bind import drive
from postmill.operate.definitions import create
from tests.support.docs.console import NOTEBOOK
from tests.support.eventually import eventually
from tests.support.spawner import ROOT, Spawned, spawner

LEASE = 1.0


def define(studio: Studio) -> None:
    """The four commands on the allow-list."""
    for body in bodies.definitions():
        drive(studio.conn, create(body))


def hire(
    studio: Studio, folder: Path, dsn: str, env: Mapping[str, str], within: list[str] | None = None
) -> Spawned:
    """`postmill worker` with one slot, perhaps on another host."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("POSTMILL_")}
    variables |= studio.env | {
        "PATH": f"{BIN}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
        "POSTMILL_DATABASE_URL": dsn,
        "POSTMILL_WORKER__LEASE": str(LEASE),
        "POSTMILL_LOG__FORMAT": "json",
        **env,
    }
    words = ["worker", "--queues", "default=1"]
    if within is None:
        return spawner().start(["postmill", *words], folder, variables)
    program = [shutil.which("ip") or "ip", *within[1:], sys.executable, "-m", "postmill", *words]
    return spawner().start(program, folder, variables, module=NOTEBOOK, function="run_program")


def serving(studio: Studio, *workers: Spawned) -> None:
    """Wait until so many workers are there, and follow the definitions."""

    def ready() -> bool:
        for worker in workers:
            assert worker.poll() is None, worker.output
        return all("worker_started" in worker.output for worker in workers)

    eventually(ready, 30, "the start of the workers")


def sync(studio: Studio, tenant: Tenant) -> UUID:
    """A sync of the tenant's Dropbox, as a job."""
    [(id,)] = studio.rows(
        "select postmill.enqueue('sync-dropbox', %s, tenant => %s)",
        Jsonb({"provider_id": str(tenant.provider), "path_prefix": "/"}),
        tenant.id,
    )
    assert isinstance(id, UUID)
    return id


def holder(studio: Studio, job: UUID) -> int | None:
    """The process id of the worker that runs a job."""
    rows = studio.rows(
        "select claimed_by_worker from postmill.jobs where id = %s and status = 'running'", job
    )
    return int(rows[0][0].split(":")[1]) if rows and rows[0][0] else None


def attempts(studio: Studio, job: UUID) -> list[tuple[str, str]]:
    """How each attempt of a job ended (`lost`: with its worker), and whose it was."""
    query = "select status, error_text, worker_id from postmill.job_attempts where job_id = %s order by attempt_no"
    return [
        ("lost" if "lease" in (text or "") else status, worker)
        for status, text, worker in studio.rows(query, job)
    ]


def succeeded(studio: Studio, job: UUID, timeout: float = 30.0) -> None:
    """Wait for it."""
    query = "select status from postmill.jobs where id = %s"
    eventually(lambda: studio.rows(query, job) == [("succeeded",)], timeout, "the job's success")
