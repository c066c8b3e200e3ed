"""`postmill definitions pause | resume | paused`: holding back the jobs of one type."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from postmill.bind import drive
from postmill.cli.ages import length, relative
from postmill.cli.commands.definitions import Key
from postmill.cli.lookups import server_now
from postmill.cli.run import Run
from postmill.cli.tables import table
from postmill.cli.values import duration
from postmill.cli.who import who
from postmill.operate import pausing


def pause(
    run: Run,
    key: Key,
    reason: Annotated[str | None, typer.Option(help="Why; shown wherever the type is.")] = None,
    length_: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="Resume by itself after 30m, 1h, 2d …")
    ] = None,
) -> None:
    """Hold back the jobs of a type; others of its queue go on. Running ones and enqueuing go on; it survives restarts."""
    seconds = duration(length_, "--for")
    with run.connect() as conn:
        until = None if seconds is None else server_now(conn, run.schema) + timedelta(seconds=seconds)
        flow = pausing.pause_type(key, reason=reason, resume_at=until, actor=who(), schema=run.schema)
        name = run.act(conn, flow)
    if run.out.as_json:
        run.out.document({"job_type": name, "paused": True, "reason": reason, "resume_at": until})
        return
    run.out.say(
        f"{name} is paused" + (f" for {length(seconds)}" if seconds is not None else ""), style="yellow"
    )
    run.out.note(f"let it run again: postmill definitions resume {name}")


def resume(run: Run, key: Key) -> None:
    """Let the jobs of a type run again."""
    with run.connect() as conn:
        name = run.act(conn, pausing.resume_type(key, actor=who(), schema=run.schema))
    if run.out.as_json:
        run.out.document({"job_type": name, "paused": False})
        return
    run.out.say(f"{name} runs again", style="green")


def paused(run: Run) -> None:
    """List the job types that are paused now."""
    with run.connect() as conn:
        found = drive(conn, pausing.paused_types(schema=run.schema))
        now = server_now(conn, run.schema)
    if run.out.as_json:
        run.out.document(found)
        return
    if not found:
        run.out.say("no job type is paused", style="green")
        return
    rows = [
        (
            one.job_type,
            relative(one.paused_at, now),
            one.paused_by,
            "never" if one.resume_at is None else relative(one.resume_at, now),
            one.reason,
        )
        for one in found
    ]
    run.out.console.print(table(("type", "since", "by", "resumes", "reason"), rows))
