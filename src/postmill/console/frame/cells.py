"""Which cell a page is of, and the others that somebody can go to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from postmill.console.frame.words import _, many
from postmill.domain.settings import Settings
from postmill.domain.settings_cells import directory_of
from postmill.operate.cells import Cell, CellState


@dataclass(frozen=True, slots=True)
class Choice:
    """A cell in the switcher.

    Attributes:
        here: it is the one of this page.
        href: its login; None where one cannot work in it now. Each cell has logins of its own.
        note: what there is to say of it; empty: nothing.
    """

    name: str
    here: bool
    href: str | None
    note: str


def own(settings: Settings) -> str | None:
    """The cell whose pages these are; None: there are no cells."""
    return settings.cell or directory_of(settings.cells)


def offered(settings: Settings, cells: Sequence[Cell], root: str) -> list[Choice]:
    """All cells, as far as they are known; none where there is only one."""
    mine = own(settings)
    if mine is None or len(cells) < 2:
        return []
    return [
        Choice(
            one.name,
            one.name == mine,
            f"{root}/login?{urlencode({'cell': one.name, 'next': '/ops'})}"
            if one.state is CellState.ANSWERS and one.name != mine
            else None,
            note(one),
        )
        for one in cells
    ]


def note(cell: Cell) -> str:
    """How a cell stands, in words: its tenants, those on their way, and what keeps one from working in it."""
    said = []
    if cell.state is CellState.AWAY:
        said.append(_("does not answer"))
    elif cell.state is CellState.UNFIT:
        said.append(_("its schema does not fit this version"))
    if cell.tenants is not None:
        said.append(many("%s tenant", "%s tenants", cell.tenants) % f"{cell.tenants:,}")
    if cell.leaving:
        said.append(many("%s on its way out", "%s on their way out", cell.leaving) % f"{cell.leaving:,}")
    if cell.arriving:
        said.append(many("%s on its way in", "%s on their way in", cell.arriving) % f"{cell.arriving:,}")
    return ", ".join(said)
