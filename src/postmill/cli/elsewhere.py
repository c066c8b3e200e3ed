"""What is not in this cell may be in another one: where a tenant that was named lives, or a job or workflow is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg

from postmill.cells import moves
from postmill.cells.sides import side
from postmill.cli.ids import id_range
from postmill.cli.run import Run
from postmill.domain.errors import PostmillError
from postmill.operate.doctor.probe import ask

LEAST = 13
"""Characters of an id, so many that another cell has the same ones only for the same thing."""


def elsewhere(run: Run, given: Mapping[str, Any]) -> str | None:
    """Where it is that a command with these arguments did not find, and what to do. Never an error; None: nowhere, or
    there are no cells.
    """
    with suppress(PostmillError, psycopg.Error):
        cells = run.settings.cells
        here = next((name for name, cell in cells.items() if cell.dsn == run.dsn), None)
        if here is None:
            return None
        tenant = given.get("tenant")
        if isinstance(tenant, str):
            home = moves.where(cells, tenant, schema=run.schema)
            if home.cell != here:
                return f"tenant {home.slug} lives in cell {home.cell}, this is {here}: the same with --cell {home.cell}"
        named = list(_named(given))
        for name in [name for name in cells if name != here and named]:
            with suppress(PostmillError, psycopg.Error), side(cells, name, run.schema) as there:
                for text in named:
                    low, high = id_range(text)
                    for what, statement in (("job", "ids_between"), ("workflow", "workflows_between")):
                        for row in ask(there.conn, run.schema, statement, low, high, 1):
                            return f"{what} {row['id']} is in cell {name}, this is {here}: the same with --cell {name}"
    return None


def _named(given: Mapping[str, Any]) -> Iterator[str]:
    """The ids that were given."""
    for key in ("id", "ids", "job", "workflow"):
        value = given.get(key)
        for text in value if isinstance(value, Sequence) and not isinstance(value, str) else [value]:
            if isinstance(text, str) and len(text) >= LEAST:
                yield text
