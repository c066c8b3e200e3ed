"""Finding a trigger by what somebody types."""

from __future__ import annotations

from uuid import UUID

from postmill.bind import run as run_statement
from postmill.cli.errors import CliError
from postmill.cli.exits import ExitCode
from postmill.cli.lookups import Connection
from postmill.domain.errors import NotFound
from postmill.store.triggers import find_triggers

MOST_SHOWN = 5


def find_trigger(conn: Connection, schema: str, text: str) -> UUID:
    """The trigger with this label, or whose id begins so.

    Raises NotFound where there is none, CliError where there are several.
    """
    found = run_statement(conn, find_triggers(text, MOST_SHOWN + 1, schema=schema))
    if not found:
        raise NotFound(
            f"no trigger is called {text!r}, and no trigger's id begins so; postmill triggers list shows them"
        )
    if len(found) > 1:
        shown = ", ".join(str(id) for id, _ in found[:MOST_SHOWN]) + (" …" if len(found) > MOST_SHOWN else "")
        raise CliError(
            f"several triggers could be {text!r}: {shown}", "give its whole id", ExitCode.NOT_FOUND
        )
    return found[0][0]
