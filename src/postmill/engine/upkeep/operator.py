"""Carries out operations: bulk acts, some jobs in each round; and takes care of dead letters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from time import monotonic
from typing import Any
from uuid import UUID

import psycopg

from postmill.domain.encryption import KeyRing
from postmill.domain.enqueue_rules import EnqueueRules
from postmill.domain.errors import PayloadRefused
from postmill.domain.job import NewJob
from postmill.domain.letter_care import LetterCare
from postmill.engine.alarm import Alarm
from postmill.engine.database import is_outage
from postmill.engine.link import Link
from postmill.engine.upkeep.round import Round
from postmill.store.definitions import enqueue_rules
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import UpkeepFailed

_MOST = 500  # jobs of one operation in one round
_SELECT = 5000  # jobs that it finds in one round
_PACE = 0.2  # seconds between two rounds while an operation runs
_STANDBY = 2.0  # and of those who wait to take it over
_CARE_EVERY = 10.0
_FOLD = 200
_HELD = 20_000  # tickets of a type that is paused no longer, in one round


class Operator(Round):
    """One of the fleet works on operations; who begins or changes one rings, else it is seen within some seconds."""

    name = "operate"
    every = 5.0
    share = 0.5

    def __init__(
        self, link: Link, bus: Bus, worker_id: str, care: LetterCare, ring: KeyRing | None = None
    ) -> None:
        super().__init__(link, bus, worker_id)
        self._care = care
        self._ring = ring
        self._rung = Alarm()
        self._care_at = 0.0
        self._worked = False

    def wake(self) -> None:
        """An operation was begun or changed."""
        self._rung.set()

    async def nap(self, seconds: float) -> None:
        await self._rung.wait(seconds)

    async def guarded(self) -> float | None:
        """Look without a lock whether there is anything to do."""
        if monotonic() >= self._care_at:
            again = await self.look_after()
            self._care_at = monotonic() + (1.0 if again else _CARE_EVERY)
        if not (await self.link.rows("upkeep/any_operation"))[0][0]:
            return max(0.0, min(self.every, self._care_at - monotonic()))
        self._worked = False
        await super().guarded()
        return _PACE if self._worked else _STANDBY

    async def once(self) -> float | None:
        self._worked = True
        await self.link.rows("upkeep/release_held", [_HELD])
        for id, kind, stage, allowed in await self.link.rows("upkeep/running_operations", [_MOST]):
            try:
                async with self.link.transaction():  # a savepoint: one that cannot go on stops no other
                    if stage == "select":
                        await self.link.rows("upkeep/select_items", [id, _SELECT])
                    else:
                        await self.step(id, kind, allowed)
            except psycopg.Error as error:
                if is_outage(error):
                    raise
                self.bus.emit(UpkeepFailed(self.name, f"operation {id}: {error}"))
        return None

    async def step(self, id: UUID, kind: str, allowed: int) -> None:
        """Some jobs of one operation: as many as its rate allows, and those met on the way that are left as they are."""
        left, looked = allowed, 0
        while True:
            items = await self.link.rows("upkeep/next_items", [id, left]) if left else []
            refused = await self._refused(items) if kind == "replay" else {}
            numbers = [item[0] for item in items]
            stood = await self.link.rows("upkeep/step_operation", [id, numbers, json.dumps(refused)])
            looked += len(items)
            left = min(stood[0][4] if stood else 0, _MOST - looked)
            if not items or left <= 0 or stood[0][0] != "running":
                return

    async def look_after(self) -> bool:
        """Fold the counts, watch their growth, recover what the rules say; one worker in ten seconds.

        True: a rule has more to do.
        """
        _, age = (await self.link.rows("upkeep/noted", ["dead_letters"]))[0]
        if age is not None and age < _CARE_EVERY - 2.0 and not self._care.rules:
            return False
        more = False
        async with self.link.transaction():
            if not await self.link.rows("upkeep/lock", ["dead_letters"]):
                return False
            await self.link.rows("upkeep/fold_dead_tally", [_FOLD])
            care = self._care
            thresholds = [care.above, json.dumps(dict(care.queues)), json.dumps(dict(care.job_types))]
            await self.link.rows("upkeep/watch_dead_letters", thresholds)
            if care.rules:
                rules = json.dumps({name: dict(rule) for name, rule in care.rules.items()})
                more = any(row[3] for row in await self.link.rows("upkeep/recover", [rules]))
            await self.link.rows("upkeep/sweep_operations", [5000])
            await self.link.rows("upkeep/ran", ["dead_letters", self.worker_id])
        return more

    async def _refused(self, items: Sequence[tuple[Any, ...]]) -> dict[int, str]:
        """What is wrong with payloads, by their numbers: they would only die again.

        The definition may have changed since. What cannot be opened here is not judged here.
        """
        names = sorted({item[3] for item in items if item[3] is not None})
        if not names:
            return {}
        rules: dict[str, EnqueueRules] = await self.link.drive(_rules(names, self.link.schema))
        faults: dict[int, str] = {}
        for n, _, tenant, job_type, payload in items:
            known = rules.get(job_type)
            if known is None or payload is None:
                continue
            try:
                known.check_stored(NewJob.of(job_type, json.loads(payload), tenant_id=tenant), self._ring)
            except PayloadRefused as fault:
                faults[n] = str(fault)
        return faults


def _rules(names: Sequence[str], schema: str) -> Any:
    return (yield enqueue_rules(names, schema=schema))
