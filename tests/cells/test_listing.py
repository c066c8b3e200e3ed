"""Which cells there are: one that answers, one without a schema, one that is away."""

from __future__ import annotations

import asyncio

from pydantic import SecretStr

from postmill.api.known_cells import KnownCells
from postmill.cells import moves
from postmill.domain.settings_cells import CellSettings
from postmill.operate.cells import CellState, list_cells
from tests.cells.conftest import Two


def test_each_cell_is_listed_with_its_state(two: Two) -> None:
    moves.begin(two.cells, "acme", "b", actor="ops")
    cells = two.cells | {"c": CellSettings(database_url=SecretStr("postgresql://localhost:1/none"))}
    found = list_cells(cells)
    assert [(cell.name, cell.directory, cell.state) for cell in found] == [
        ("a", True, CellState.ANSWERS),
        ("b", False, CellState.ANSWERS),
        ("c", False, CellState.AWAY),
    ]
    assert [(cell.tenants, cell.leaving, cell.arriving) for cell in found] == [
        (1, 1, 0),
        (0, 0, 1),
        (0, 0, 0),
    ]
    two.b.execute(
        "delete from postmill.migration where version = (select max(version) from postmill.migration)"
    )
    assert list_cells(cells)[1].state is CellState.UNFIT
    assert asyncio.run(KnownCells(cells, "postmill").get())[1].state is CellState.UNFIT
    assert list_cells({}) == []
