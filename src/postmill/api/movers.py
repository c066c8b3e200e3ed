"""Moves of tenants that this server does: those that it was asked for, and those that another server has left."""

from __future__ import annotations

import asyncio
import logging
import threading
from uuid import UUID

import psycopg

from postmill.cells import moves
from postmill.cells.moves import MoveBusy, MoveStopped
from postmill.domain.errors import PostmillError
from postmill.domain.settings import Settings
from postmill.domain.settings_cells import directory_of
from postmill.store.cells import Move

LOOK = 10.0
"""Seconds between two looks for moves that nobody is at."""

log = logging.getLogger(__name__)


class Leaving(Exception):
    """This server ends; another one goes on."""


class Movers:
    """One thread for a move. Only the server of the directory's cell has any.

    Args:
        settings: with `cells`; without them, or in another cell, nothing is ever done.
        linger: as in `moves.resume`.
    """

    def __init__(self, settings: Settings, linger: float = moves.LINGER) -> None:
        self._settings = settings
        self._linger = linger
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._leaving = threading.Event()
        self._watch: asyncio.Task[None] | None = None

    @property
    def at_home(self) -> bool:
        """Whether this is the server of the directory's cell."""
        home = directory_of(self._settings.cells)
        return home is not None and self._settings.cell in (None, home)

    def open(self) -> None:
        """Looks after moves from now on."""
        if self.at_home:
            self._watch = asyncio.create_task(self._look())

    def start(self, id: UUID) -> None:
        """Goes on with a move, if this server does not already."""
        if id not in self._tasks:
            self._tasks[id] = asyncio.create_task(self._move(id))
            self._tasks[id].add_done_callback(lambda _: self._tasks.pop(id, None))

    async def close(self) -> None:
        """Leaves the moves to others, at the next point where nobody suffers."""
        self._leaving.set()
        if self._watch is not None:
            self._watch.cancel()
        await asyncio.gather(*self._tasks.values(), *filter(None, [self._watch]), return_exceptions=True)

    async def _look(self) -> None:
        while True:
            try:
                for id in await asyncio.to_thread(
                    moves.left, self._settings.cells, schema=self._settings.schema_name
                ):
                    self.start(id)
            except (PostmillError, psycopg.Error) as fault:
                log.warning("moves cannot be looked for: %s", fault)
            await asyncio.sleep(LOOK)

    async def _move(self, id: UUID) -> None:
        try:
            await asyncio.to_thread(
                moves.resume,
                self._settings.cells,
                id,
                told=self._told,
                before=self._before,
                linger=self._linger,
                schema=self._settings.schema_name,
            )
        except (MoveBusy, MoveStopped, Leaving):
            pass
        except (PostmillError, psycopg.Error) as fault:
            log.warning("the move %s is left for now: %s", id, fault)

    def _told(self, move: Move) -> None:
        if self._leaving.is_set() and move.step not in ("switch", "open"):
            raise Leaving

    def _before(self, point: str) -> None:
        if self._leaving.is_set() and point in ("linger", "copy slice"):
            raise Leaving
