"""Clears artifacts away that are replaced, deleted, expired or whose job is pruned; and files that never got a row."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from postmill.artifacts.storage import INCOMING, Storage
from postmill.artifacts.threads import in_thread
from postmill.domain.artifact import older
from postmill.domain.errors import ArtifactStoreFailed, ArtifactStoreMissing
from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import ArtifactsCleared, UpkeepFailed

if TYPE_CHECKING:
    from postmill.artifacts.store import Store

_MOST = 100  # files in a batch
_BATCHES = 50  # in a round: what is left is the next one's
_ASKED = 1000  # ids in one question for rows
_PATIENCE = timedelta(days=1)  # so long a put may last, from its begin to its row
_SWEEP_EVERY = 3600.0  # seconds between two looks for files without rows


class Clearer(Round):
    """The store is asked outside of any transaction: it may be slow. First a file goes, then its row."""

    name = "artifacts"
    every = 60.0

    def __init__(self, link: Link, bus: Bus, worker_id: str, storage: Storage) -> None:
        super().__init__(link, bus, worker_id)
        self._storage = storage

    async def guarded(self) -> float | None:
        """A round, if nobody else has begun one within the pace. Two at once would do no harm."""
        async with self.link.transaction():
            if not await self.link.rows("upkeep/lock", [self.name]):
                return None
            due, moment, note = (await self.link.rows("artifacts/due", [self.name, self.every * 0.8]))[0]
            if not due:
                return None
            await self.link.rows("upkeep/ran", [self.name, self.worker_id])
        told: dict[str, Any] = json.loads(note) if note else {}
        try:
            store = await in_thread(self._storage.opened)
            pause = await self._clear(store)
            if pause is None and moment.timestamp() - told.get("swept_at", 0.0) >= _SWEEP_EVERY:
                day = await self._sweep(store, moment, told.get("day", ""))
                note = json.dumps({"swept_at": moment.timestamp(), "day": day})
                await self.link.rows("upkeep/note", [self.name, note])
        except (ArtifactStoreFailed, ArtifactStoreMissing) as fault:
            self.bus.emit(UpkeepFailed(self.name, str(fault)))
            return None
        return pause

    async def once(self) -> float | None:
        """A batch of what is to be cleared away, and of what cannot be the next time once more."""
        return await self._clear(await in_thread(self._storage.opened))

    async def _clear(self, store: Store) -> float | None:
        cleared, fault = 0, None
        for _ in range(_BATCHES):
            rows = await self.link.rows("artifacts/take_gone", [_MOST])
            gone, fault = await in_thread(lambda rows=rows: _deleted(store, rows))  # type: ignore[misc]
            await self.link.rows("artifacts/forget", [gone])
            cleared += len(gone)
            if len(rows) < _MOST or fault is not None:
                break
        else:
            return 0.0
        if cleared:
            self.bus.emit(ArtifactsCleared(cleared))
        if fault is not None:
            raise fault
        return None

    async def _sweep(self, store: Store, moment: datetime, after: str) -> str:
        """Files without a row, of what is still incoming and of one day: days take turns. The day that was looked at."""
        before = moment - _PATIENCE
        days = [day for day in await in_thread(store.days) if day <= f"{before:%Y-%m-%d}"]
        day = next((day for day in days if day > after), days[0] if days else "")
        orphans = [
            path for id, path in await in_thread(lambda: list(store.files_of(INCOMING))) if older(id, before)
        ]
        if day:
            found = [
                one for one in await in_thread(lambda: list(store.files_of(day))) if older(one[0], before)
            ]
            for start in range(0, len(found), _ASKED):
                some = found[start : start + _ASKED]
                known = {row[0] for row in await self.link.rows("artifacts/known", [[id for id, _ in some]])}
                orphans += [path for id, path in some if id not in known]
        for path in orphans:
            await in_thread(lambda path=path: store.clear(path))  # type: ignore[misc]
        if orphans:
            self.bus.emit(ArtifactsCleared(0, orphans=len(orphans)))
        if day:
            await in_thread(lambda: store.tidy(day, before))
        return day


def _deleted(store: Store, rows: list[tuple[Any, ...]]) -> tuple[list[UUID], ArtifactStoreFailed | None]:
    """Those whose files are gone, and what kept another from going."""
    gone: list[UUID] = []
    fault = None
    for id, tenant in rows:
        try:
            store.delete(id, tenant)
        except ArtifactStoreFailed as error:
            fault = error
        else:
            gone.append(id)
    return gone, fault
