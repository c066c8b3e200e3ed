"""The columns of the table of jobs, and which of them somebody sees."""

from __future__ import annotations

import re
from dataclasses import dataclass

from postmill.console.frame.arguments import Arguments, refused
from postmill.console.frame.nav import N_
from postmill.domain.redaction import secret_key

MOST_ARGS = 5

_PATH = re.compile(r"(?:args\.)?([^.\s,]+(?:\.[^.\s,]+){0,7})")


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `shown`: unless somebody chooses others; `ops`: on pages of the platform only."""

    name: str
    title: str
    shown: bool = True
    ops: bool = False
    figures: bool = False


COLUMNS = (
    Column("type", N_("Job type")),
    Column("state", N_("State")),
    Column("error", N_("Error")),
    Column("tenant", N_("Tenant"), ops=True),
    Column("queued", N_("Queued")),
    Column("started", N_("Started")),
    Column("finished", N_("Finished")),
    Column("attempts", N_("Attempts"), figures=True),
    Column("queue", N_("Queue")),
    Column("waited", N_("Waited"), shown=False, figures=True),
    Column("ran", N_("Ran"), shown=False, figures=True),
    Column("source", N_("Source")),
    Column("worker", N_("Worker")),
    Column("priority", N_("Priority"), shown=False, figures=True),
    Column("tags", N_("Tags"), shown=False),
    Column("key", N_("Idempotency key"), shown=False),
    Column("actor", N_("Enqueued by"), shown=False),
    Column("correlation", N_("Correlation id"), shown=False),
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The columns of a page: those of `COLUMNS`, and arguments by their paths."""

    columns: tuple[Column, ...]
    paths: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def args_text(self) -> str:
        """The paths as the field takes them."""
        return ", ".join("args." + ".".join(path) for path in self.paths)


def chosen(args: Arguments, *, ops: bool, payloads: bool) -> Chosen:
    """What the address asks for (`col` repeated, `args`), or the usual ones. Problem (422) for what there is not."""
    known = [column for column in COLUMNS if ops or not column.ops]
    names = args.all("col")
    for name in names:
        if name not in {column.name for column in COLUMNS}:
            raise refused("col", f"there is no column {name[:40]!r}")
    columns = tuple(column for column in known if (column.name in names if names else column.shown))
    return Chosen(columns, _paths(args.text("args")) if payloads else ())


def _paths(text: str) -> tuple[tuple[str, ...], ...]:
    paths = []
    for part in filter(None, (each.strip() for each in text.split(","))):
        found = _PATH.fullmatch(part)
        if found is None:
            raise refused(
                "args",
                f"expected paths of arguments, as in args.customer_id, args.order.id; not {part[:40]!r}",
            )
        path = tuple(found[1].split("."))
        if any(map(secret_key, path)):
            raise refused("args", f"{part[:40]!r} is the name of a secret, which is not shown")
        paths.append(path)
    if len(paths) > MOST_ARGS:
        raise refused("args", f"at most {MOST_ARGS} arguments, not {len(paths)}")
    return tuple(paths)
