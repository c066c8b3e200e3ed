"""What to say of a job that is not there: an id tells when it was made, and so what probably became of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NoReturn
from uuid import UUID

from postmill.bind import run as statement
from postmill.cli.ages import length
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.lookups import Connection
from postmill.operate.doctor.probe import ask
from postmill.store.archive import units

LATEST = datetime(9999, 1, 1, tzinfo=UTC)


def made_at(id: UUID) -> datetime | None:
    """The moment that an id of ours tells (UUIDv7, RFC 9562); None for one of another kind."""
    seconds = (id.int >> 80) / 1000
    return datetime.fromtimestamp(seconds, UTC) if id.version == 7 and seconds < LATEST.timestamp() else None


def absent(conn: Connection, schema: str, id: UUID) -> NoReturn:
    """Raises CliError (not found) that says why the job is probably not there (any more)."""
    if statement(conn, units(job=id, status="archived", most=1, schema=schema)):
        raise CliError(
            f"there is no job {id} any more",
            f"the cold archive may have it: postmill archive show {id}",
            ExitCode.NOT_FOUND,
        )
    [kept] = ask(conn, schema, "kept_since")
    made = made_at(id)
    if made is not None and kept["since"] is not None and made < kept["since"]:
        raise CliError(
            f"there is no job {id} any more: it would be of {made:%Y-%m-%d %H:%M} UTC,"
            f" and ended jobs are kept for {length(kept['retention'])}",
            "what is older was pruned; a longer retention keeps new ones longer",
            ExitCode.NOT_FOUND,
        )
    hint = "copy an id from: postmill jobs list"
    if kept["failures_only"]:
        hint += "; or it succeeded, and its type keeps only failures"
    raise CliError(f"there is no job {id}", hint, ExitCode.NOT_FOUND)
