"""`postmill queues list | pause | resume | move`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from postmill.bind import drive
from postmill.cli.ages import length, relative
from postmill.cli.completion import complete_job_type, complete_queue
from postmill.cli.lookups import server_now
from postmill.cli.progress import overseen, tallying
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.text import one_line
from postmill.cli.values import duration
from postmill.cli.who import who
from postmill.operate import commands, insight
from postmill.store.moving import Batch
from postmill.store.queues import QueueView

Name = Annotated[
    str,
    typer.Argument(
        metavar="QUEUE", help="Its name; case matters only where several fit.", autocompletion=complete_queue
    ),
]
COLUMNS = (
    "queue", "priority", "queued", "oldest", "scheduled", "next due", "running", "dead", "SLA", "owner", "state",
)  # fmt: skip
PROMISED = ("SLA", "owner")
"""Shown where a queue has them."""
NUMBERS = ("priority", "queued", "oldest", "scheduled", "next due", "running", "dead")


def list_(run: Run) -> None:
    """List queues, the most urgent first: what waits, what runs, what is dead."""
    with run.connect() as conn:
        queues = drive(conn, insight.all_queues(schema=run.schema))
        now = server_now(conn, run.schema)
    if not queues and not run.out.as_json:
        run.out.say("no queues yet")
        run.out.note("they come with their job types: postmill jobs register MODULE, or start a worker")
        return

    def row(queue: QueueView) -> tuple[str | int | Text | None, ...]:
        due = queue.next_due_seconds
        if queue.paused:
            until = f", opens {relative(queue.resume_at, now)}" if queue.resume_at else ""
            state = Text(
                f"paused{until}: {one_line(queue.pause_reason or 'no reason given', 80)}", style="yellow"
            )
        else:
            state = Text("open", style="green")
        return (
            queue.name,
            queue.priority,
            queue.queued,
            None if queue.oldest_seconds is None else length(queue.oldest_seconds),
            queue.scheduled,
            None if due is None else (length(due) if due > 0 else "now"),
            queue.running,
            queue.dead_letters,
            _sla(queue),
            queue.owner,
            state,
        )

    shown = [
        n for n, name in enumerate(COLUMNS) if name not in PROMISED or any(row(one)[n] for one in queues)
    ]

    def page() -> RenderableType:
        rows = [[cells[n] for n in shown] for cells in map(row, queues)]
        return table([COLUMNS[n] for n in shown], rows, right=NUMBERS, spare=PROMISED)

    run.out.show(queues, page)


def _sla(queue: QueueView) -> Text | None:
    """What is promised, and the share of the last hour that kept it."""
    if queue.sla_seconds is None:
        return None
    if queue.attained is None:
        return Text(length(queue.sla_seconds))
    style = "green" if queue.attained >= 0.95 else "red"
    return Text(f"{length(queue.sla_seconds)}: {queue.attained:.1%}", style=style)


def pause(
    run: Run,
    queue: Name,
    reason: Annotated[str | None, typer.Option(help="Why; shown wherever the queue is.")] = None,
    length_: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="Open again by itself after 30s, 5m, 2h …")
    ] = None,
) -> None:
    """Stop handing out jobs of a queue. Running ones and enqueuing go on; it survives restarts."""
    seconds = duration(length_, "--for")
    with run.connect() as conn:
        until = None if seconds is None else server_now(conn, run.schema) + timedelta(seconds=seconds)
        name = run.act(
            conn, commands.pause(queue, reason=reason, resume_at=until, actor=who(), schema=run.schema)
        )
    if run.out.as_json:
        run.out.document({"queue": name, "paused": True, "reason": reason, "resume_at": until})
        return
    run.out.say(
        f"queue {name} is paused" + (f" for {length(seconds)}" if seconds is not None else ""), style="yellow"
    )
    run.out.note(f"open it again: postmill queues resume {name}")


def resume(run: Run, queue: Name) -> None:
    """Hand out jobs of a queue again."""
    with run.connect() as conn:
        name = run.act(conn, commands.resume(queue, schema=run.schema))
    if run.out.as_json:
        run.out.document({"queue": name, "paused": False})
        return
    run.out.say(f"queue {name} is open", style="green")


def move(
    run: Run,
    job_type: Annotated[
        str, typer.Argument(metavar="TYPE", help="The job type.", autocompletion=complete_job_type)
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="QUEUE",
            help="Another queue than the one that the job type belongs to.",
            autocompletion=complete_queue,
        ),
    ] = None,
) -> None:
    """Take the waiting jobs of a type into its queue, after it was registered with another one.

    They keep their attempts, priorities and due times. What runs goes on, and comes back into its old queue if it is
    tried again. May be stopped and run again at any time.
    """
    with run.connect() as conn:
        with tallying(run.out, f"moving {job_type}") as moved:
            flow = overseen(commands.move(job_type, to, schema=run.schema), lambda part: moved(_moved(part)))
            done = run.act_in_parts(conn, flow)
        strays = drive(conn, insight.strays(done.job_type, schema=run.schema))
    if run.out.as_json:
        run.out.document(done)
        return
    if done.moved:
        jobs = "job" if done.moved == 1 else "jobs"
        run.out.say(f"moved {done.moved:,} {jobs} of {done.job_type} to {done.queue}", style="green")
    else:
        run.out.say(f"no job of {done.job_type} waits outside of {done.queue}")
    if done.queue != done.home:
        run.out.note(f"new jobs of {done.job_type} go to {done.home} as before", style="yellow")
    for some in strays:
        if some.running and some.queue != done.queue:
            run.out.note(
                f"{some.running:,} run from {some.queue}, and come back there if they are tried again",
                style="yellow",
            )


def _moved(part: object) -> int:
    """How many jobs a step of the move moved; its other steps are look-ups."""
    return part.moved if isinstance(part, Batch) else 0
