"""The cells as they were a moment ago: for pages, which must not wait for a cell that does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic

from postmill.domain.settings_cells import CellSettings
from postmill.operate.cells import Cell, list_cells

FRESH = 10.0
"""Seconds after which they are looked at again, while the answer is still what was seen before."""


class KnownCells:
    """What `list_cells` said lately; only the very first asker waits for it."""

    def __init__(self, cells: Mapping[str, CellSettings], schema: str) -> None:
        self._cells = cells
        self._schema = schema
        self._found: list[Cell] = []
        self._until = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def get(self) -> list[Cell]:
        """The cells in the order of the settings; none where there are none."""
        if self._cells and monotonic() >= self._until and self._looking is None:
            self._looking = asyncio.create_task(self._look())
        if self._looking is not None and not self._found:
            await asyncio.shield(self._looking)
        return self._found

    async def close(self) -> None:
        """Waits for a look that goes on."""
        if self._looking is not None:
            await self._looking

    async def _look(self) -> None:
        try:
            self._found = await asyncio.to_thread(list_cells, self._cells, schema=self._schema)
            self._until = monotonic() + FRESH
        finally:
            self._looking = None
