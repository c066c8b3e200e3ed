"""`postmill workers show | drain | resume | stop | rescue`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group

from postmill.bind import drive
from postmill.cli.ages import length, relative
from postmill.cli.completion import complete_worker
from postmill.cli.errors import CliError
from postmill.cli.lookups import server_now
from postmill.cli.run import Run
from postmill.cli.tables import pairs, state, table
from postmill.cli.text import one_line
from postmill.cli.who import who
from postmill.operate import workers
from postmill.store.workers import Asked, HeldJob, WorkerView

Name = Annotated[
    str,
    typer.Argument(
        metavar="WORKER",
        help="Its id, the id of one session, or how only its id begins or ends.",
        autocompletion=complete_worker,
    ),
]
Reason = Annotated[str | None, typer.Option(help="Why; for the audit log.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask.")]
COLUMNS = ("job", "type", "queue", "attempt", "held for", "replay")


def show(run: Run, worker: Name) -> None:
    """Show a worker, and what it holds: what is lost if it ends now."""
    with run.connect() as conn:
        found = drive(conn, workers.worker(worker, schema=run.schema))
        held = drive(conn, workers.held(found.holder, schema=run.schema))
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document({"worker": found, "jobs": held})
        return
    report = found.report or {}
    error = report.get("last_error") or {}
    memory = report.get("memory_bytes")
    skew = found.skew_seconds
    facts = [
        ("worker", found.worker_id),
        ("session", str(found.holder)),
        ("state", _state(found)),
        ("asked", _asked(found)),
        ("host", f"{found.hostname}, pid {found.pid}"),
        ("build", found.build),
        ("version", found.version),
        ("queues", found.slots_text),
        ("running", f"{found.running} of {found.all_slots}"),
        ("seen", relative(found.last_seen_at, now)),
        ("started", relative(found.started_at, now)),
        ("clock", None if skew is None else f"{skew:+.3f} s from the database's"),
        ("memory", None if memory is None else f"{memory / 2**20:.1f} MiB"),
        ("last error", one_line(f"{error['error_class']}: {error['message']}", 200) if error else None),
    ]
    rows = [
        (
            str(job.id),
            job.job_type,
            job.queue,
            f"{job.attempt}/{job.max_attempts}",
            length((now - job.claimed_at).total_seconds()),
            job.replay_class,
        )
        for job in held
    ]
    shown = pairs([(name, value) for name, value in facts if value])
    parts = [shown, table(COLUMNS, rows, right=("attempt", "held for"))] if rows else [shown]
    run.out.console.print(Group(*parts))


def _state(worker: WorkerView) -> str:
    if not worker.clean:
        return worker.state
    n = worker.interrupted
    return (
        f"stopped; {n} running {'job was' if n == 1 else 'jobs were'} interrupted and given back"
        if n
        else "stopped cleanly"
    )


def drain(run: Run, worker: Name, reason: Reason = None) -> None:
    """Ask a worker to claim nothing more. What runs is finished; `resume` takes it back."""
    _ask(run, worker, "drain", reason)


def resume(run: Run, worker: Name, reason: Reason = None) -> None:
    """Ask a worker to claim again."""
    _ask(run, worker, "resume", reason)


def stop(run: Run, worker: Name, reason: Reason = None) -> None:
    """Ask a worker to end as soon as nothing runs. Whatever supervises its process may start another one."""
    _ask(run, worker, "stop", reason)


def rescue(run: Run, worker: Name, reason: Reason = None, yes: Yes = False) -> None:
    """Take back what a lost worker held, at once. Other workers do that by themselves where one lives."""
    with run.connect() as conn:
        found = drive(conn, workers.worker(worker, schema=run.schema))
        held = drive(conn, workers.held(found.holder, schema=run.schema))
        if held and not yes and not run.out.as_json:
            run.out.say(
                f"{len(held)} jobs run again, or are given up where this was the last attempt: {_classes(held)}"
            )
            if not typer.confirm("take them back?", err=True):
                raise CliError("nothing was done", "answer y, or give --yes")
        done = run.act(conn, workers.rescue(found.holder, reason=reason, actor_id=who(), schema=run.schema))
    rows = [(str(job.id), job.queue, state(job.verdict)) for job in done.jobs]
    run.out.show(done.jobs, lambda: table(("job", "queue", "now"), rows) if rows else "it held nothing")


def _ask(run: Run, name: str, asked: Asked, reason: str | None) -> None:
    with run.connect() as conn:
        flow = workers.ask(name, asked, reason=reason, actor_id=who(), schema=run.schema)
        found = run.act(conn, flow)
    if run.out.as_json:
        run.out.document(found)
        return
    run.out.say(f"asked {found.worker_id} to {asked}; it runs {found.running}", style="yellow")
    run.out.note("it hears of it at once, or at its next sign of life: postmill workers list")


def _asked(worker: WorkerView) -> str | None:
    if worker.asked is None:
        return None
    why = f": {one_line(worker.asked_reason, 80)}" if worker.asked_reason else ""
    return f"{worker.asked} by {worker.asked_by}{why}"


def _classes(held: list[HeldJob]) -> str:
    counts: dict[str, int] = {}
    for job in held:
        counts[job.replay_class or "unknown"] = counts.get(job.replay_class or "unknown", 0) + 1
    return ", ".join(f"{n} whose definition says {name}" for name, n in sorted(counts.items()))
