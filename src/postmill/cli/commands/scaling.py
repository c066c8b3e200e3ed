"""`postmill scaling`: how many workers each queue needs, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from postmill.bind import drive
from postmill.cli.ages import length
from postmill.cli.completion import complete_queue
from postmill.cli.run import Run
from postmill.cli.tables import Cell, table
from postmill.cli.values import duration
from postmill.domain.scaling import Aim
from postmill.operate.scaling import Scaling
from postmill.operate.scaling import scaling as read

COLUMNS = (
    "queue", "waiting", "oldest", "running", "in/s", "out/s", "runs", "workers", "slots", "needs slots", "needs workers",
    "because",
)  # fmt: skip


def scaling(
    run: Run,
    queue: Annotated[
        str | None,
        typer.Argument(metavar="QUEUE", help="Only of this queue.", autocompletion=complete_queue),
    ] = None,
    slots: Annotated[
        int | None,
        typer.Option(
            "--slots", min=1, max=10_000, help="Slots of one worker. Default: as those that work have, or 10."
        ),
    ] = None,
    drain: Annotated[
        str | None,
        typer.Option(
            "--drain",
            metavar="TIME",
            help="What waits shall have started within 30s, 5m … Default: as the queue promises, or 2m.",
        ),
    ] = None,
    least: Annotated[int, typer.Option("--min", min=0, help="No fewer workers.")] = 0,
    most: Annotated[int | None, typer.Option("--max", min=0, help="No more workers.")] = None,
) -> None:
    """Show how many workers each queue needs, by what arrives, what waits and how long jobs run."""
    aim = Aim(drain_seconds=duration(drain, "--drain"), slots_each=slots, least=least, most=most)
    with run.connect() as conn:
        found = drive(conn, read(queue, aim, schema=run.schema))
    if run.out.as_json and queue is not None:
        run.out.document(found[0])
        return
    right = COLUMNS[1:-1]
    run.out.show(
        found, lambda: table(COLUMNS, map(_row, found), right=right, spare=("in/s", "out/s", "because"))
    )
    if not run.out.as_json and len(found) == 1:
        run.out.note(found[0].text)


def _row(one: Scaling) -> tuple[Cell, ...]:
    return (
        one.queue,
        f"{one.waiting:,}{'+' if one.at_least else ''}",
        None if one.oldest_seconds is None else length(one.oldest_seconds),
        one.running,
        f"{one.arriving_per_second:.3g}",
        f"{one.finishing_per_second:.3g}",
        None if one.run_seconds is None else length(one.run_seconds),
        one.workers,
        one.slots,
        one.desired_slots,
        one.desired_workers,
        one.because.value.replace("_", " "),
    )
