"""Writes what waits for the cold archive, reads it back, and has it dropped; and clears away what was there long enough."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from postmill.archive.erasing import erased
from postmill.archive.reading import verify
from postmill.archive.storage import ArchiveStorage
from postmill.archive.writing import LeavingRow, Unit, UnitWriter
from postmill.artifacts.threads import in_thread
from postmill.domain.archive import MANIFEST, Manifest
from postmill.domain.errors import ArchiveDamaged, ArchiveFailed, ArchiveMissing
from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.counters import Counters
from postmill.telemetry.events import ArchiveSpent, HistoryArchived, UpkeepFailed

if TYPE_CHECKING:
    from postmill.archive.place import Place

T = TypeVar("T")

_CLAIM = 300.0  # seconds that a unit is one worker's, renewed while it is written
_RENEW_EVERY = 60.0
_AT_ONCE = 4 << 20  # bytes of a table in one statement, about
_MOST_BLOCKS = 256
_ROWS = 1000  # that leave, in one statement
_SPENT_MOST = 20
_UNITS = 50  # in a round: what is left is the next one's

_FAULTS = (ArchiveFailed, ArchiveMissing, ArchiveDamaged)


class Archivist(Round):
    """The archive is asked outside of any transaction: it may be slow. First the files are there, then the rows go."""

    name = "archive"
    every = 60.0
    share = 0.3

    def __init__(
        self, link: Link, bus: Bus, worker_id: str, storage: ArchiveStorage, counters: Counters
    ) -> None:
        super().__init__(link, bus, worker_id)
        self._storage = storage
        self._counters = counters

    async def guarded(self) -> float | None:
        """Each unit has its own claim, so that several workers may be at it; what is spent is cleared away by one."""
        if not (await self.link.rows("archive/here"))[0][0]:
            return None  # an operator switched it off
        pause = await self.once()
        async with self.link.transaction():
            if not await self.link.rows("upkeep/lock", [self.name]):
                return pause
            await self.link.rows("upkeep/ran", [self.name, self.worker_id])
        await self._clear()
        return pause

    async def once(self) -> float | None:
        """Units, as long as there are any."""
        for _ in range(_UNITS):
            rows = await self.link.rows("archive/claim_unit", [self.worker_id, _CLAIM])
            if not rows:
                return None
            await self._unit(rows[0])
        return 0.2

    async def _unit(self, row: tuple[Any, ...]) -> None:
        id, source, rule, since, until, columns, blocks, size, version = row
        kinds = tuple((name, kind) for name, kind in json.loads(columns))
        unit = Unit(id, source, rule, since, until, kinds, version)
        began = monotonic()
        try:
            place = await in_thread(self._storage.opened)
            step = _ROWS if blocks is None else _step(blocks, size)
            manifest = await self._written(place, unit, blocks, step)
        except _FAULTS as fault:
            await self.link.rows("archive/unit_failed", [id, self.worker_id, str(fault)])
            self.bus.emit(UpkeepFailed(self.name, str(fault)))
            return
        document = json.dumps(manifest.document())
        if (await self.link.rows("archive/unit_archived", [id, self.worker_id, document]))[0][0]:
            archived = self._counters.archived
            archived[source] = archived.get(source, 0) + manifest.rows
            self.bus.emit(HistoryArchived(source, manifest.rows, manifest.size, monotonic() - began))

    async def _written(self, place: Place, unit: Unit, blocks: int | None, step: int) -> Manifest:
        """The unit in the archive, whole and read back. One that is there already is not written once more."""
        found: Manifest | None = await self._long(unit.id, lambda: _there(place, unit))
        if found is not None:
            return found
        settings = self._storage.settings
        writer = UnitWriter(place, unit, settings.format, settings.rows_per_file)
        try:
            await self._copy(writer, unit.id, blocks, step)
            manifest = await in_thread(writer.finish)
            await self._long(unit.id, lambda: verify(place, manifest))
            await in_thread(lambda: writer.publish(manifest))
            await in_thread(lambda: place.manifest(manifest.folder))
        except BaseException:
            await in_thread(writer.discard)
            raise
        return manifest

    async def _copy(self, writer: UnitWriter, id: UUID, blocks: int | None, step: int) -> None:
        at, renewed = 0, monotonic()
        while blocks is None or at < blocks:
            rows = await self.link.rows("archive/unit_page", [id, at, step])
            if blocks is None and not rows:
                break
            some = [LeavingRow(tenant or "", job, fields) for _, tenant, job, fields in rows]
            await in_thread(partial(writer.write, some))
            at = at + step if blocks is not None else rows[-1][0] + 1
            if monotonic() - renewed > _RENEW_EVERY:
                renewed = monotonic()
                await self._renew(id)

    async def _long(self, id: UUID, work: Callable[[], T]) -> T:
        """Blocking work that may take longer than the claim lasts."""
        task = asyncio.ensure_future(in_thread(work))
        try:
            while not (await asyncio.wait({task}, timeout=_RENEW_EVERY))[0]:
                await self._renew(id)
        except BaseException:
            task.cancel()
            await asyncio.wait({task})
            raise
        return task.result()

    async def _renew(self, id: UUID) -> None:
        if not (await self.link.rows("archive/renew_unit", [id, self.worker_id, _CLAIM]))[0][0]:
            raise ArchiveFailed(f"the unit {id} was taken over by another worker")

    async def _clear(self) -> None:
        """Units past their time, and tenants' rows that are past theirs."""
        for id, source, text, tenants in await self.link.rows("archive/spent_units", [_SPENT_MOST]):
            manifest = Manifest.of(json.loads(text), f"unit {id}")
            try:
                place = await in_thread(self._storage.opened)
                left = await in_thread(partial(_less, place, manifest.folder, tenants))
            except _FAULTS as fault:
                self.bus.emit(UpkeepFailed(self.name, str(fault)))
                return
            async with self.link.transaction():
                document = None if left is None else json.dumps(left.document())
                await self.link.rows("archive/unit_changed", [id, document, "past its retention"])
            self.bus.emit(ArchiveSpent(source, manifest.rows - (left.rows if left else 0)))


def _step(blocks: int, size: int) -> int:
    """Blocks in one statement: fewer where large payloads are stored beside them."""
    return max(1, min(_MOST_BLOCKS, _AT_ONCE * max(blocks, 1) // max(size, 1)))


def _there(place: Place, unit: Unit) -> Manifest | None:
    """The unit, if an earlier try wrote it whole and could not say so any more."""
    try:
        found = place.manifest(unit.folder)
        verify(place, found)
    except ArchiveDamaged:
        return None
    return found


def _less(place: Place, folder: str, tenants: list[str] | None) -> Manifest | None:
    """What is left of a unit. What an earlier try did already is in its folder, not in what the database knows."""
    if tenants is not None and MANIFEST in place.files(folder):
        left = erased(place, place.manifest(folder), tenants)
        if left.rows:
            return left
    place.remove_unit(folder)
    return None
