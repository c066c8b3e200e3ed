"""`postmill enqueue TYPE name=value …`: one job, and with --wait its end."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID, uuid4

import typer
from rich.text import Text

from postmill.cli.ages import between
from postmill.cli.assignments import parse_assignments
from postmill.cli.completion import complete_argument, complete_job_type, complete_tag, complete_tenant
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.explaining import explain
from postmill.cli.job_page import as_json
from postmill.cli.lookups import Connection, JobTypeShape, job_type_shape, tenant_id
from postmill.cli.reasons import why
from postmill.cli.run import Run
from postmill.cli.values import duration, moment
from postmill.cli.watching import Display, watch
from postmill.cli.who import who
from postmill.client import enqueue as enqueue_on
from postmill.domain.errors import (
    EnvelopeIncomplete,
    InactiveJobType,
    JobDidNotSucceed,
    NotFound,
    WaitTimeout,
)
from postmill.domain.job import Enqueued, JobView, NewJob
from postmill.domain.payload import encode
from postmill.operate.doctor.unserved import what_to_start


def enqueue(
    run: Run,
    job_type: Annotated[
        str, typer.Argument(metavar="TYPE", help="Name of a job type.", autocompletion=complete_job_type)
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME=VALUE",
            help="Its arguments. NAME=VALUE for text, numbers and true/false, as the type takes them; "
            "NAME:=JSON for lists, objects and all else (sizes:='[64, 128]').",
            autocompletion=complete_argument,
        ),
    ] = None,
    payload: Annotated[
        str | None,
        typer.Option(
            metavar="JSON", help="All arguments as a JSON object; @FILE reads a file, - standard input."
        ),
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: the same work is not queued twice.")
    ] = None,
    delay: Annotated[
        str | None, typer.Option(metavar="TIME", help="Not before 30s, 5m, 2h … from now.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="MOMENT", help="Not before 2031-05-17T09:30+02:00.")
    ] = None,
    priority: Annotated[
        int | None, typer.Option(metavar="N", help="A lower number is more urgent (default 100).")
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(metavar="TENANT", help="Whose work it is: slug or id.", autocompletion=complete_tenant),
    ] = None,
    project: Annotated[UUID | None, typer.Option(metavar="UUID", help="Project inside the tenant.")] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag", metavar="TAG", help="A word to find it by; may be repeated.", autocompletion=complete_tag
        ),
    ] = None,
    max_attempts: Annotated[int | None, typer.Option(metavar="N", min=1, help="Attempts in all.")] = None,
    wait: Annotated[
        bool, typer.Option("--wait", metavar="", help="Wait for the end; exit 1 if it does not succeed.")
    ] = False,
    timeout: Annotated[
        str | None, typer.Option(metavar="TIME", help="Wait no longer; exit 6 (with --wait).")
    ] = None,
) -> None:
    """Enqueue one job. Prints its id; with --wait its progress (on stderr) and its result.

    Arguments are checked against the job type. A name given more than once makes a list where it takes one.
    """
    patience = duration(timeout, "--timeout")
    if patience is not None and not wait:
        raise CliError("--timeout is for --wait", "add --wait, or leave it out")
    options: dict[str, Any] = {
        "key": key,
        "delay": None if delay is None else timedelta(seconds=duration(delay, "--delay") or 0.0),
        "scheduled_for": moment(at, "--at"),
        "priority": priority,
        "project": project,
        "max_attempts": max_attempts,
        "tags": tag,
        "actor_type": "user",
        "actor_id": who(),
    }
    with run.connect() as conn:
        options["tenant"] = tenant_id(conn, run.schema, tenant)
        shape = job_type_shape(conn, run.schema, job_type)
        if not shape.active:
            raise InactiveJobType(shape.name)
        made = parse_assignments(arguments or [], shape.schema, _base(payload))
        job = NewJob(shape.name, encode(made)).using(
            **{name: value for name, value in options.items() if value is not None}
        )
        answer = _enqueued(run, conn, job)
        _tell(run, shape, answer, waits=wait)
        if wait:
            _wait(run, conn, shape, answer, patience)


def _enqueued(run: Run, conn: Connection, job: NewJob) -> Enqueued:
    """A strict envelope names the request that the job belongs to; here that is this command."""
    try:
        return enqueue_on(conn, job, schema=run.schema)
    except EnvelopeIncomplete as lacking:
        if lacking.field not in ("request_id", "correlation_id"):
            raise
    request = f"cli-{uuid4()}"
    return enqueue_on(conn, job.using(request_id=request, correlation_id=request), schema=run.schema)


def _base(payload: str | None) -> dict[str, Any]:
    if payload is None:
        return {}
    try:
        text = payload
        if payload == "-":
            text = sys.stdin.read()
        elif payload.startswith("@"):
            text = Path(payload[1:]).read_text(encoding="utf-8")
        found = json.loads(text)
    except OSError as fault:
        raise CliError(f"--payload cannot be read: {fault}") from None
    except ValueError as fault:
        raise CliError(f"--payload is not JSON: {fault}") from None
    if not isinstance(found, dict):
        raise CliError(f"--payload is a JSON object, not {type(found).__name__}")
    return found


def _tell(run: Run, shape: JobTypeShape, answer: Enqueued, *, waits: bool) -> None:
    if run.out.as_json:
        if not waits:
            run.out.document(
                {"id": answer.id, "created": answer.created, "job_type": shape.name, "queue": shape.queue}
            )
    else:
        if not waits:
            run.out.copyable(str(answer.id))
        if not answer.created:
            run.out.note("a live job has this key; none was created", style="yellow")
        elif not waits:
            run.out.note(f"{shape.name} is in queue {shape.queue}; watch it: postmill jobs show {answer.id}")
    if not shape.workers and answer.created and (waits or not run.out.as_json):
        run.out.warn(
            f"no live worker serves {shape.name} in queue {shape.queue}; the job waits until one does",
            what_to_start(shape.queue, [shape.kind]),
        )


def _wait(run: Run, conn: Connection, shape: JobTypeShape, answer: Enqueued, patience: float | None) -> None:
    facts = {"id": answer.id, "created": answer.created}
    try:
        with Display(run.out, shape.name) as display:
            job = watch(conn, run.schema, answer.id, timeout=patience, seen=display)
    except NotFound:
        if not answer.created or shape.keep == "all":
            raise
        # It has succeeded before the first look, and nothing of it is kept.
        if run.out.as_json:
            run.out.document({**facts, "job": None})
        run.out.note(f"succeeded  {answer.id}", style="green")
        return
    except JobDidNotSucceed as fault:
        ended = fault.job
        assert isinstance(ended, JobView)
        if run.out.as_json:
            run.out.document({**facts, "job": ended})
        reason = why(ended.reason, ended.error_class, ended.error_message, longest=400)
        run.out.side.print(Text.assemble((f"{ended.status}", "bold red"), f": {reason}" if reason else ""))
        run.out.note(f"  → postmill jobs show {answer.id}")
        raise typer.Exit(ExitCode.FAILED) from None
    except (WaitTimeout, KeyboardInterrupt) as fault:
        told = explain(fault)
        if run.out.as_json:
            run.out.document(
                {**facts, "error": {"code": int(told.code), "kind": told.kind, "message": told.message}}
            )
        run.out.note(f"{told.message}; the job goes on: postmill jobs show {answer.id}", style="yellow")
        raise typer.Exit(told.code) from None
    if run.out.as_json:
        run.out.document({**facts, "job": job})
        return
    run.out.note(f"succeeded in {between(job.started_at, job.finished_at)}  {answer.id}", style="green")
    if job.result is not None:
        run.out.console.print(Text(as_json(job.result)))
