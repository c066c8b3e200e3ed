"""Settings of cells: several databases, in one of which each tenant lives."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import Field, SecretStr

from postmill.domain.errors import NotFound
from postmill.domain.settings_types import Section
from postmill.domain.suggest import did_you_mean

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")


class CellSettings(Section):
    """One database, as `cells.<NAME>`."""

    database_url: SecretStr = Field(description="Connection string of this cell's database.")
    listen_url: SecretStr | None = Field(
        default=None, description="Direct connection for LISTEN where `database_url` leads through pgbouncer."
    )
    directory: bool = Field(
        default=False, description="Whether this cell holds the directory; exactly one does."
    )

    @property
    def dsn(self) -> str:
        """`database_url` in clear, for the driver only."""
        return self.database_url.get_secret_value()


def check_cells(cells: dict[str, CellSettings]) -> dict[str, CellSettings]:
    """The cells, if they have names and one directory. Raises ValueError."""
    for name in cells:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a cell: use 1 to 32 of a-z, 0-9 and -")
    found = [name for name, cell in cells.items() if cell.directory]
    if cells and len(found) != 1:
        held = ", ".join(found) or "none"
        raise ValueError(f"exactly one cell must have directory = true, not {held}")
    if len({cell.dsn for cell in cells.values()}) < len(cells):
        raise ValueError("two cells have the same database_url")
    return cells


def directory_of(cells: Mapping[str, CellSettings]) -> str | None:
    """The name of the cell that holds the directory; None: there are no cells."""
    return next((name for name, cell in cells.items() if cell.directory), None)


def cell_named(cells: Mapping[str, CellSettings], name: str) -> CellSettings:
    """The cell of that name. Raises NotFound, which says what was probably meant."""
    found = cells.get(name)
    if found is None:
        hint = did_you_mean(name, cells, noun="cells") or ": the settings have no cells"
        raise NotFound(f"there is no cell {name[:40]!r}{hint}")
    return found
