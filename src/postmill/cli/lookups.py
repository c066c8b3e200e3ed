"""Small questions that several commands ask the database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from postmill.bind import drive
from postmill.bind import run as run_statement
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.ids import id_range
from postmill.domain.errors import NotFound, UnknownJobType
from postmill.operate import tenants
from postmill.operate.doctor.probe import ask
from postmill.store.registration import job_type_names

Connection = psycopg.Connection[Any]

MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class JobTypeShape:
    """A job type as an enqueuing person needs it. `workers` counts the live ones that serve it."""

    name: str
    queue: str
    kind: str
    description: str
    active: bool
    schema: dict[str, Any]
    workers: int
    keep: str


def server_now(conn: Connection, schema: str) -> datetime:
    """The moment by the clock that decides: ages are told by it."""
    moment: datetime = ask(conn, schema, "moment")[0]["moment"]
    return moment


def job_type_shape(conn: Connection, schema: str, name: str) -> JobTypeShape:
    """The definition of a job type. Raises UnknownJobType, which says what was probably meant.

    Who may read it here has the rights of a worker, and so may register one.
    """
    rows = ask(conn, schema, "job_type_shape", name)
    if not rows:
        raise UnknownJobType(name, run_statement(conn, job_type_names(schema=schema)), may_register=True)
    row = rows[0]
    shape = json.loads(row["arg_schema"])
    return JobTypeShape(
        row["key"],
        row["queue"],
        row["kind"],
        row["description"],
        row["is_active"],
        shape,
        row["workers"],
        row["keep"],
    )


def find_ids(conn: Connection, schema: str, given: Sequence[str]) -> list[UUID]:
    """Whole ids for beginnings of ids, each once.

    Raises NotFound for one that no job has, CliError for one that several have.
    """
    return list(dict.fromkeys(_find_id(conn, schema, text) for text in given))


def find_workflow(conn: Connection, schema: str, text: str) -> UUID:
    """The whole id of a workflow for its beginning. Raises NotFound, CliError where several begin so."""
    low, high = id_range(text, "workflow")
    if low == high:
        return low
    found = [row["id"] for row in ask(conn, schema, "workflows_between", low, high, 2)]
    if not found:
        raise NotFound(f"no workflow's id begins with {text!r}; postmill workflows list shows the newest")
    if len(found) > 1:
        raise CliError(f"several workflows' ids begin with {text!r}", "give more of it", ExitCode.NOT_FOUND)
    return UUID(str(found[0]))


def tenant_id(conn: Connection, schema: str, text: str | None) -> UUID | None:
    """The id of a tenant that was named by slug or id; None stays None. Raises NotFound."""
    return None if text is None else drive(conn, tenants.tenant(text, schema=schema)).id


def _find_id(conn: Connection, schema: str, text: str) -> UUID:
    low, high = id_range(text)
    if low == high:
        return low
    found = [row["id"] for row in ask(conn, schema, "ids_between", low, high, MOST_SHOWN + 1)]
    if not found:
        raise NotFound(f"no job's id begins with {text!r}; postmill jobs list shows the newest")
    if len(found) > 1:
        shown = ", ".join(map(str, found[:MOST_SHOWN])) + (" …" if len(found) > MOST_SHOWN else "")
        raise CliError(
            f"several jobs' ids begin with {text!r}: {shown}", "give more of it", ExitCode.NOT_FOUND
        )
    return UUID(str(found[0]))
