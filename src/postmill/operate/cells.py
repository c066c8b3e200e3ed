"""Which cells there are, and in what state each of them is."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum

import psycopg

from postmill import bind, connections
from postmill.domain.errors import PostmillError
from postmill.domain.settings_cells import CellSettings, directory_of
from postmill.schema.check import check
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.cells import Crowd, crowds

PATIENCE = 2
"""Seconds to wait for a connection to a cell (libpq takes no less)."""


class CellState(StrEnum):
    """Whether one can work in a cell."""

    ANSWERS = "answers"
    UNFIT = "unfit"
    """It answers, but its schema is missing, or too old or too new for this version of Postmill."""
    AWAY = "away"
    """It does not answer."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as it is now.

    Attributes:
        directory: whether it holds the directory.
        state: see `CellState`; `error` says more, without names of hosts or roles.
        version: of its schema; None: unknown.
        tenants: how many the directory has there; None: the directory does not answer. Those that it does not know live in
            its own cell, and are not counted.
        leaving, arriving: tenants that are being moved from or to it.
    """

    name: str
    directory: bool
    state: CellState
    version: int | None = None
    tenants: int | None = None
    leaving: int = 0
    arriving: int = 0
    error: str | None = None


def list_cells(cells: Mapping[str, CellSettings], *, schema: str = DEFAULT_SCHEMA) -> list[Cell]:
    """All cells of the settings in their order, asked at once, each for `PATIENCE` seconds at most; none without cells.

    Blocks (in async code: `asyncio.to_thread`); raises nothing because of a cell that is away or unfit.
    """
    home = directory_of(cells)
    if home is None:
        return []
    with ThreadPoolExecutor(min(len(cells), 16), "postmill cells") as pool:
        asked = {name: pool.submit(_look, name, cell, schema) for name, cell in cells.items()}
        found = [asked[name].result() for name in cells]
    known = next(crowd for cell, crowd in found if cell.name == home)
    if known is None:
        return [cell for cell, _ in found]
    return [_counted(cell, known.get(cell.name, Crowd())) for cell, _ in found]


def _look(name: str, cell: CellSettings, schema: str) -> tuple[Cell, dict[str, Crowd] | None]:
    """The cell; where it holds the directory and can be worked in, what the directory says of all of them."""
    made = Cell(name, cell.directory, CellState.AWAY)
    try:
        with connections.connect(cell.dsn, "postmill cells", connect_timeout=PATIENCE) as conn:
            conn.execute(f"set statement_timeout = '{PATIENCE}s'")
            status = check(conn, schema)
            made = replace(made, state=CellState.UNFIT, version=status.version)
            status.require()
            made = replace(made, state=CellState.ANSWERS)
            return made, bind.run(conn, crowds(schema=schema)) if cell.directory else None
    except psycopg.Error:
        return replace(made, state=CellState.AWAY, error="it does not answer"), None
    except PostmillError as fault:
        return replace(made, error=str(fault)), None


def _counted(cell: Cell, crowd: Crowd) -> Cell:
    return replace(cell, tenants=crowd.tenants, leaving=crowd.leaving, arriving=crowd.arriving)
