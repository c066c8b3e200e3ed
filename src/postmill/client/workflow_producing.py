"""Workflows and batches on the caller's own connection, inside the caller's own transaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from postmill import bind
from postmill.client import workflow_care, workflow_flows
from postmill.domain.batch import Batch
from postmill.domain.job import NewJob
from postmill.domain.workflow import Workflow
from postmill.domain.workflow_view import Started
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.workflows import WorkflowCanceled


def start_workflow(conn: Any, workflow: Workflow, *, schema: str = DEFAULT_SCHEMA) -> Started:
    """Inserts a workflow on `conn`: it is there, whole, when and only when the caller's transaction commits.

    Nothing is committed, retried or rolled back here, and a refusal leaves the transaction usable.

    Args:
        conn: psycopg.Connection, SQLAlchemy Connection or Session, or Django's connection.
        workflow: with at least one step.
        schema: where Postmill's tables are.

    Returns:
        Its id, and whether it was created or found under its key.

    Raises:
        WorkflowRefused: no step, too many, a circle, a parent that is not there, options that a step cannot have.
        UnknownJobType, InactiveJobType, KeyBusy, SerializationConflict, PayloadRefused: nothing was made.
        SchemaMissing: the database has no Postmill schema; this aborts the transaction.
        TypeError: `conn` is of no known kind, or asynchronous.
    """
    return bind.drive(conn, workflow_flows.start_workflow(schema, workflow))


async def astart_workflow(conn: Any, workflow: Workflow, *, schema: str = DEFAULT_SCHEMA) -> Started:
    """`start_workflow` on psycopg.AsyncConnection, asyncpg.Connection, SQLAlchemy AsyncConnection, AsyncSession."""
    return await bind.adrive(conn, workflow_flows.start_workflow(schema, workflow))


def start_batch(conn: Any, batch: Batch, jobs: Iterable[NewJob], *, schema: str = DEFAULT_SCHEMA) -> Started:
    """Starts a batch with all its jobs on `conn`. As `start_workflow` otherwise."""
    return bind.drive(conn, workflow_flows.start_batch(schema, batch, jobs))


async def astart_batch(
    conn: Any, batch: Batch, jobs: Iterable[NewJob], *, schema: str = DEFAULT_SCHEMA
) -> Started:
    """`start_batch` on the kinds of connection that `astart_workflow` takes."""
    return await bind.adrive(conn, workflow_flows.start_batch(schema, batch, jobs))


def add_to_batch(conn: Any, id: UUID | str, jobs: Iterable[NewJob], *, schema: str = DEFAULT_SCHEMA) -> int:
    """Adds jobs to an open batch on `conn`, and returns how many it has.

    Two transactions that add to one batch wait for each other, and the batch moves on when they have ended.

    Raises:
        NotFound: there is no such batch. WorkflowRefused: it is sealed, canceled or has ended.
        The others as `start_workflow`.
    """
    return bind.drive(conn, workflow_flows.add_to_batch(schema, id, jobs))


async def aadd_to_batch(
    conn: Any, id: UUID | str, jobs: Iterable[NewJob], *, schema: str = DEFAULT_SCHEMA
) -> int:
    """`add_to_batch` on the kinds of connection that `astart_workflow` takes."""
    return await bind.adrive(conn, workflow_flows.add_to_batch(schema, id, jobs))


def cancel_workflow(
    conn: Any, id: UUID | str, *, reason: str | None = None, schema: str = DEFAULT_SCHEMA
) -> WorkflowCanceled:
    """Cancels a workflow or batch on `conn`: the whole of it, when and only when the caller commits.

    Raises:
        NotFound: there is no such workflow. PayloadRefused: the reason cannot be stored.
    """
    return bind.drive(conn, workflow_care.cancel_workflow(schema, id, reason=reason))


async def acancel_workflow(
    conn: Any, id: UUID | str, *, reason: str | None = None, schema: str = DEFAULT_SCHEMA
) -> WorkflowCanceled:
    """`cancel_workflow` on the kinds of connection that `astart_workflow` takes."""
    return await bind.adrive(conn, workflow_care.cancel_workflow(schema, id, reason=reason))
