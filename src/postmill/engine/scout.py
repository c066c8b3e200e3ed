"""Finds lanes with work, knows the lanes with settings of their own, and the bodies that left their partition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic

from postmill.engine.lanes import FOREIGN, QueueLanes, Room
from postmill.engine.link import Link
from postmill.engine.raw import Ids
from postmill.engine.work import CLAIMED_AT, ID, JOB_TYPE, SEATS, Handler, Row

# Seconds between two discoveries, and never more than a twentieth of the time: 10,000 lanes take it once a second.
_DISCOVER_EVERY = 0.005
_DISCOVER_SHARE = 20.0
_RECENT_EVERY = 0.005  # seconds: before nearly every claim
_RECENT_BACK = 0.25  # seconds
_RECENT_MOST = 1000
_LANES_MOST = 20_000
_SPECIAL_EVERY = 1.0  # seconds


class Scout:
    def __init__(
        self,
        link: Link,
        lanes: Mapping[str, QueueLanes],
        handlers: Mapping[str, Handler],
        codes: Callable[[], Mapping[str, str]],
    ) -> None:
        self._link = link
        self._lanes = lanes
        self._codes = codes
        self._handlers = handlers
        # First halves of lanes that are not claimed from here, each with its job type and the code that one must run, if any: of
        # versions that are not run here, and of types that some worker has put back and that are not known here.
        self.foreign: dict[bytes, tuple[str, str | None]] = {}
        self.for_others: set[tuple[str, bytes]] = set()  # rung for, by queue and half
        self._heard = False
        self._limited = [(name, each.limit) for name, each in handlers.items() if each.limit is not None]
        self._discover_at = 0.0
        self._least_gap = 0.0
        self._recent_at = 0.0
        self._special_at = 0.0
        self.limited: frozenset[str] = frozenset()  # queues whose jobs some limit may bind
        self.cost = 0.0  # seconds that the last discovery took

    def discover_soon(self) -> None:
        self._discover_at = 0.0

    def vet_soon(self) -> None:
        """Somebody changed a limit or a weight, or other types are known here."""
        self._special_at = 0.0

    def heard(self, queue: str, lane: bytes | None) -> bool:
        """This worker was rung, for a lane or for it does not know which. True: it is one for others."""
        if lane is None:
            self._heard = True
        elif lane[:8] in self.foreign:
            self.for_others.add((queue, lane[:8]))
            return True
        return False

    async def pass_on(self) -> None:
        """Wake those who know what this worker was rung for and does not know itself."""
        told = [(queue, *self.foreign[half]) for queue, half in self.for_others if half in self.foreign]
        self.for_others.clear()
        if told:
            await self._link.rows(
                "doorbell/wake_knowing", [list(column) for column in zip(*told, strict=True)]
            )

    async def look(self, queues: list[str], *, idle: bool) -> bool:
        """Look for lanes where it is time to; `idle` means that everything known was empty. True: there is news."""
        now = monotonic()
        if now >= self._special_at:
            await self.vet()
        if now >= self._discover_at or (idle and now >= self._least_gap):
            return await self.discover(queues)
        if idle or now >= self._recent_at:
            self._recent_at = now + _RECENT_EVERY
            rows = await self._link.rows(
                "claim/recent_lanes", [list(self._lanes), _RECENT_BACK, _RECENT_MOST]
            )
            return self._tell(rows, discovered=False, queues=queues)
        return False

    async def discover(self, queues: list[str], *, doubt: bool = False) -> bool:
        """Find every lane with work. True: there is some in these queues.

        `doubt`: whatever is claimed next must begin at the true head, for a late commit may lie before the cursor.
        """
        if monotonic() >= self._special_at:
            await self.vet()
        now = monotonic()
        rows = await self._link.rows("claim/discover_lanes", [list(self._lanes), _LANES_MOST])
        cost = self.cost = monotonic() - now
        self._discover_at = now + max(_DISCOVER_EVERY, _DISCOVER_SHARE * cost)
        self._least_gap = now + _DISCOVER_SHARE * cost
        self._recent_at = now + _RECENT_EVERY
        if doubt:
            for queue, lane, priority in rows:
                self._lanes[queue].doubt(lane, priority)
        if self._heard:
            self._heard = False
            self.for_others |= {(row[0], row[1][:8]) for row in rows if row[1][:8] in self.foreign}
        return self._tell(rows, discovered=True, queues=queues)

    def _tell(self, rows: list[Row], *, discovered: bool, queues: list[str]) -> bool:
        for queue, lane, priority in rows:
            self._lanes[queue].news(lane, priority, discovered=discovered)
        foreign = self.foreign
        return any(row[0] in queues and row[1][:8] not in foreign for row in rows)

    async def vet_new(self) -> bool:
        """Look up the settings of lanes never seen before; without, a first claim would overrun a limit.

        True: others have come to be known meanwhile, which may be foreign.
        """
        if not any(lanes.unvetted for lanes in self._lanes.values()):
            return False
        await self.vet()
        return any(lanes.unvetted for lanes in self._lanes.values())

    async def vet(self) -> None:
        """Look up weights, types and versions with lanes of their own, and queues with limits.

        A limit that is news meanwhile is in force all the same: a plain claim gets nothing from a limited queue.
        """
        self._special_at = monotonic() + _SPECIAL_EVERY
        for lanes in self._lanes.values():
            lanes.unvetted = (
                False  # before the look: a lane that is news meanwhile may be under a younger rule
            )
        rules: dict[bytes, str] = {}
        tenants: dict[bytes, int] = {}
        own: dict[str, dict[bytes, int]] = {}
        limited: set[str] = set()
        foreign: dict[bytes, tuple[str, str | None]] = {}
        codes = self._codes()
        for what, queue, id, weight, job_type in await self._link.rows(
            "claim/special_lanes", [list(self._lanes)]
        ):
            if what == "lane":
                own.setdefault(queue, {})[id] = weight
            elif what == "tenant":
                tenants[id] = weight
            elif what == "type":
                rules[id[:8]] = job_type
            elif what == "pin":
                own_code = queue is not None and codes.get(job_type) == queue
                rules[id[:8]] = job_type if own_code else FOREIGN
                if not own_code:
                    foreign[id[:8]] = job_type, queue or ""
            elif what == "refused":
                rules[id[:8]] = job_type if job_type in self._handlers else FOREIGN
                if job_type not in self._handlers:
                    foreign[id[:8]] = job_type, None
            else:
                limited.add(queue)
        self.limited = frozenset(limited)
        self.foreign = foreign
        for name, known in self._lanes.items():
            closed = known.rule(rules, tenants | own.get(name, {}))
            self.for_others |= {(name, id[:8]) for id in closed}

    def room(self) -> Room:
        """How many more this process may hold of each type with a limit per worker; aliases share the count."""
        counts = {limit: [limit.free] for _, limit in self._limited}
        return {name: counts[limit] for name, limit in self._limited}

    async def kept(self, rows: list[Row]) -> list[Row]:
        """Fill in bodies that outlived their partition."""
        missing = Ids([row[ID] for row in rows if row[JOB_TYPE] is None])
        bodies = {row[0]: row for row in await self._link.rows("claim/kept_bodies", [missing])}
        filled = []
        for row in rows:
            body = bodies.get(row[ID]) if row[JOB_TYPE] is None else None
            whole = (
                (*row[:6], *body[1:-1], row[CLAIMED_AT], body[-1], *row[SEATS:]) if body is not None else row
            )
            filled.append(whole)
        return filled
