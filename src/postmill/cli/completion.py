"""What the shell offers after TAB: names out of the database, modules out of the folder. Never an error."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import typer

from postmill.cli.given import Given
from postmill.cli.run import Run

T = TypeVar("T", str, "Offer")

PATIENCE = 1.0
"""Seconds for the database; after that the shell offers nothing."""

MOST = 50
"""Names that are offered at once."""

Offer = str | tuple[str, str]
"""A word, or a word and what it means; not every shell shows the latter."""


def complete_job_type(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names and aliases of active job types."""
    from postmill.store.registration import job_type_names

    return _from_database(ctx, incomplete, lambda schema: job_type_names(schema=schema))


def complete_job(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Ids of jobs, the newest first, with job type and state."""
    from postmill.bind import drive
    from postmill.operate import insight

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        jobs = drive(conn, insight.jobs(most=MOST, schema=schema)).jobs
        return [(str(job.id), f"{job.job_type}, {job.status}") for job in jobs]

    return _asked(ctx, incomplete, ask)


def complete_workflow(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Ids of workflows, the newest first, with name and state."""
    from postmill.bind import drive
    from postmill.client import workflow_care

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        found = drive(conn, workflow_care.workflows(schema, limit=MOST))
        return [(str(one.id), f"{one.name}, {one.status}") for one in found]

    return _asked(ctx, incomplete, ask)


def complete_step(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Names of held steps of the workflow that is named before."""
    from postmill.bind import drive
    from postmill.cli.lookups import find_workflow
    from postmill.client import workflow_care

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        id = find_workflow(conn, schema, ctx.params["workflow"])
        steps = drive(conn, workflow_care.workflow_graph(schema, id)).steps
        return [(one.name, one.job_type) for one in steps if one.state == "held" and one.name is not None]

    return _asked(ctx, incomplete, ask)


def complete_cell(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of the cells that the settings have."""
    with suppress(Exception):
        return [name for name in _run(ctx).settings.cells if name.startswith(incomplete)]
    return []


def complete_dead(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Ids of open dead letters, the newest first, with job type and reason."""
    from postmill.bind import drive
    from postmill.operate import insight

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        letters = drive(conn, insight.dead_letters(most=MOST, schema=schema))
        return [(str(letter.id), f"{letter.job_type}, {letter.reason}") for letter in letters]

    return _asked(ctx, incomplete, ask)


def complete_error_group(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Error groups of open dead letters, the largest first."""
    from postmill.bind import drive
    from postmill.operate import operations

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        found = drive(conn, operations.statistics(schema=schema)).by_group
        return [
            (one.error_group, f"{one.count:,} {one.error_class}")
            for one in found
            if one.error_group is not None
        ]

    return _asked(ctx, incomplete, ask)


def complete_operation(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Ids of operations, the newest first, with what they do."""
    from postmill.bind import drive
    from postmill.operate import operations

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        found = drive(conn, operations.operations(most=MOST, schema=schema))
        return [(str(one.id), f"{one.kind}, {one.status}, {one.tried:,} of {one.total:,}") for one in found]

    return _asked(ctx, incomplete, ask)


def complete_error(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Ids of error groups, those seen last first, with job type and class."""
    from postmill.bind import drive
    from postmill.operate import stats

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        groups = drive(conn, stats.error_groups(most=MOST, schema=schema))
        return [(group.id, f"{group.job_type}, {group.error_class}") for group in groups]

    return _asked(ctx, incomplete, ask)


def complete_tag(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Tags that jobs have."""
    from postmill.bind import run as run_statement
    from postmill.store.finding import read_facets

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        return [word for word, _note in run_statement(conn, read_facets("tag", "", most=MOST, schema=schema))]

    return _asked(ctx, incomplete, ask)


def complete_tenant(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Slugs of tenants."""
    from postmill.bind import drive
    from postmill.operate import tenants

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        return [(one.slug, one.name) for one in drive(conn, tenants.tenants(most=10_000, schema=schema))]

    return _asked(ctx, incomplete, ask)


def complete_limit(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Names of limits."""
    from postmill.bind import drive
    from postmill.operate import limits

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        return [one.name for one in drive(conn, limits.limits(schema=schema))]

    return _asked(ctx, incomplete, ask)


def complete_worker(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Workers that have not stopped."""
    from postmill.bind import drive
    from postmill.operate import insight

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        found = drive(conn, insight.all_workers(schema=schema))
        return [(one.worker_id, one.state) for one in found if one.stopped_at is None]

    return _asked(ctx, incomplete, ask)


def complete_budget(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Names of budgets."""
    from postmill.bind import drive
    from postmill.operate import budgets

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        found = drive(conn, budgets.budgets(most=1000, schema=schema))
        return [(one.name, one.standing.level) for one in found]

    return _asked(ctx, incomplete, ask)


def complete_trigger(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Labels of triggers."""
    from postmill.bind import run as run_statement
    from postmill.store.triggers import list_triggers

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        found = run_statement(conn, list_triggers(most=1000, schema=schema))
        return [(trigger.label, trigger.trigger_type) for trigger in found]

    return _asked(ctx, incomplete, ask)


def complete_incident(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Ids of incidents that are not resolved, with what they are."""
    from postmill.bind import drive
    from postmill.operate import incidents

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[Offer]:
        return [
            (str(one.id), one.title) for one in drive(conn, incidents.incidents(most=MOST, schema=schema))
        ]

    return _asked(ctx, incomplete, ask)


def complete_channel(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of channels, as the settings have them."""
    with suppress(Exception):
        return _beginning(_run(ctx).settings.escalation.all_channels, incomplete)
    return []


def complete_queue(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of queues."""
    from postmill.store.queues import queue_names

    return _from_database(ctx, incomplete, lambda schema: queue_names(schema=schema))


def complete_queues(ctx: typer.Context, incomplete: str) -> list[str]:
    """The last name in `high=20,def…`."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in complete_queue(ctx, last)]


def complete_argument(ctx: typer.Context, incomplete: str) -> list[str]:
    """`name=` of the arguments that the chosen job type takes."""
    from postmill.cli import json_schema
    from postmill.cli.lookups import job_type_shape

    job_type = ctx.params.get("job_type")
    if not job_type or "=" in incomplete:
        return []

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[str]:
        shape = job_type_shape(conn, schema, str(job_type)).schema
        return [
            name + ("=" if json_schema.types_of(part, shape) - {"object", "array"} else ":=")
            for name, part in json_schema.properties(shape).items()
        ]

    return _asked(ctx, incomplete, ask)


def complete_module(incomplete: str) -> list[str]:
    """Python files and packages of the current folder."""
    here = Path(incomplete).parent if os.sep in incomplete else Path()
    try:
        entries = sorted(here.iterdir())
    except OSError:
        return []
    names = [str(entry) for entry in entries if entry.suffix == ".py"]
    names += [f"{entry}{os.sep}" for entry in entries if entry.is_dir() and (entry / "__init__.py").exists()]
    return _beginning(names, incomplete)


def _from_database(ctx: typer.Context, incomplete: str, statement: Callable[[str], Any]) -> list[str]:
    from postmill.bind import run as run_statement

    def ask(conn: psycopg.Connection[Any], schema: str) -> list[str]:
        return list(run_statement(conn, statement(schema)))

    return _asked(ctx, incomplete, ask)


def _asked(
    ctx: typer.Context, incomplete: str, ask: Callable[[psycopg.Connection[Any], str], list[T]]
) -> list[T]:
    """What `ask` finds in the database, if it answers in time."""
    found: list[T] = []

    def look() -> None:
        # An error here would be printed into the middle of the command that is being typed.
        with suppress(Exception):
            run = _run(ctx)
            with _connection(run) as conn:
                found.extend(ask(conn, run.schema))

    # libpq waits for two seconds at least, and a name server as long as it likes: a thread may be left behind.
    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(PATIENCE)
    return [] if looking.is_alive() else [word for word in found if _word(word).startswith(incomplete)]


def _word(offer: Offer) -> str:
    return offer if isinstance(offer, str) else offer[0]


def _run(ctx: typer.Context) -> Run:
    given = Given()
    for level in (ctx.find_root(), ctx):
        named = {key.removeprefix("shared_"): value for key, value in level.params.items()}
        given = given.overridden_by(
            Given(
                config=named.get("config"),
                dsn=named.get("dsn"),
                schema=named.get("schema"),
                cell=named.get("cell"),
            )
        )
    return Run(given)


def _connection(run: Run) -> psycopg.Connection[Any]:
    from postmill import connections
    from postmill.cli.database import normalized

    return connections.connect(normalized(run.dsn, patience=2), "postmill cli")


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def complete_subject(incomplete: str) -> list[Offer]:
    """What retention has rules for."""
    from postmill.domain.retention import SUBJECTS

    return [(name, what) for name, what in SUBJECTS.items() if name.startswith(incomplete)]
