"""Which lanes to claim from, where to begin in each, and whose turn it is. Pure: no I/O, the clock is handed in.

Inside a queue lanes take turns by deficit round robin (Shreedhar and Varghese, 1995): each turn gives a lane its
quantum times its weight; what it did not use it keeps only while it has work. Inside a lane the most urgent priority
goes first. For each (lane, priority) a cursor remembers the last key, so that no scan walks over the dead index
entries that a pinned horizon keeps; a scan from the true head repeats now and then for late commits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf

_LEAST_QUANTUM = 10  # tickets; an entry of the claim costs about as much as two tickets
_FEW_LANES = 20  # up to here one claim serves every lane
_HEAD_EVERY = 1.0  # seconds between scans from the true head, at least
_HEAD_SHARE = 50.0  # and at least so many times the last such scan's duration: 2 % of the time
_CURSORS_KEPT = 50_000
_HALF = 8  # bytes of a lane

Room = Mapping[str, list[int]]
"""By job type with lanes of its own: how many more may be held, in a list of one that its lanes share."""

Rules = Mapping[bytes, str]
"""By the first half of a lane: the job type that has lanes of its own, or FOREIGN."""

FOREIGN = ""
"""In place of a job type: lanes that only others claim from."""

Weights = Mapping[bytes, int]
"""By lane or tenant: a share that is not like others'."""


@dataclass(slots=True)
class Cursor:
    """Where a scan of one (lane, priority) begins: the raw instant of the last claimed key, None for the head."""

    at: bytes | None = None
    head_due: float = 0.0


@dataclass(slots=True)
class Entry:
    """One line of a claim: so many tickets of one lane and priority, from there on."""

    queue: str
    lane: bytes
    priority: int
    start: bytes | None
    count: int
    head: bool


class Lane:
    __slots__ = (
        "cursors",
        "deficit",
        "id",
        "in_ring",
        "job_type",
        "keys",
        "open",
        "roomy",
        "shut_until",
        "soft",
        "tenant",
        "weight",
    )

    def __init__(self, id: bytes) -> None:
        self.id = id
        self.weight = 1
        self.deficit = 0
        self.job_type: str | None = None
        self.tenant = id  # whose lane it is; of a type's or a key's lane known only from its tickets
        self.keys = b""  # of the limits that its last ticket took seats of
        self.shut_until = 0.0  # no token or seat before this moment
        self.soft = False  # shut only as long as no slot is free
        self.roomy = False  # or until seats of its limit are free, which is a large one
        self.open: set[int] = set()  # priorities with work
        self.in_ring = False
        self.cursors: dict[int, Cursor] = {}


class QueueLanes:
    """The lanes of one queue; `ring` holds those with work, in the order of their turns."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lanes: dict[bytes, Lane] = {}
        self.ring: deque[Lane] = deque()
        self.last_served: frozenset[bytes] = frozenset()  # the lanes of the last claim
        self.unvetted = False  # some lane is new: it may have a limit that nobody has looked up yet
        self._rules: Rules = {}
        self.weights: Weights = {}
        self._soft: set[Lane] = set()  # of thousands of lanes those that wait for a free slot

    def lane(self, id: bytes) -> Lane:
        lane = self.lanes.get(id)
        if lane is None:
            if len(self.lanes) > _CURSORS_KEPT:
                self.lanes = {key: old for key, old in self.lanes.items() if old.in_ring}
            lane = self.lanes[id] = Lane(id)
            lane.job_type = self._rules.get(id[:_HALF])
            lane.weight = self.weights.get(id, 1)
            self.unvetted = True
        return lane

    def rule(self, rules: Rules, weights: Weights) -> list[bytes]:
        """From now on these job types have lanes of their own, and these lanes and tenants another weight than 1.

        Lanes with work that only others claim from by now.
        """
        closed = []
        if rules != self._rules:
            self._rules = rules
            for id, lane in self.lanes.items():
                lane.job_type = rules.get(id[:_HALF])
                if lane.job_type == FOREIGN and lane.open:
                    lane.open.clear()
                    lane.deficit = 0
                    closed.append(id)
        if weights != self.weights:
            self.weights = weights
            for lane in self.lanes.values():
                self._weigh(lane)
        return closed

    def belongs(self, lane: Lane, tenant: bytes) -> None:
        """A ticket says whose lane this is."""
        if lane.tenant != tenant:
            lane.tenant = tenant
            self._weigh(lane)

    def _weigh(self, lane: Lane) -> None:
        lane.weight = self.weights.get(lane.id) or self.weights.get(lane.tenant, 1)

    def until_slot_free(self, lane: Lane, *, roomy: bool) -> None:
        """This lane is shut because nothing more could start; `roomy`: its limit is a large one."""
        lane.soft, lane.roomy, lane.shut_until = True, roomy, inf
        self._soft.add(lane)

    def slot_free(self, *, only_roomy: bool = False) -> None:
        """Lanes that were shut because nothing more could start may be claimed from again."""
        for lane in [lane for lane in self._soft if lane.roomy or not only_roomy]:
            self._soft.discard(lane)
            lane.soft = False
            lane.shut_until = 0.0

    def news(self, id: bytes, priority: int, *, discovered: bool) -> None:
        """There is work in this lane. A discovery saw it from the head, so an emptied cursor is not to be trusted."""
        lane = self.lane(id)
        if priority in lane.open or lane.job_type == FOREIGN:
            return
        cursor = lane.cursors.get(priority)
        if cursor is None:
            cursor = lane.cursors[priority] = Cursor()
        elif discovered:
            cursor.head_due = 0.0
        lane.open.add(priority)
        if not lane.in_ring:
            # Who comes in goes first once, with one quantum: so it waits for no more than the batch that is under way.
            lane.in_ring = True
            lane.deficit = 0
            self.ring.appendleft(lane)

    def doubt(self, id: bytes, priority: int) -> None:
        """The next claim from here begins at the true head."""
        cursor = self.lane(id).cursors.get(priority)
        if cursor is not None:
            cursor.head_due = 0.0

    def plan(self, wanted: int, now: float, room: Room | None = None) -> list[Entry]:
        """The lines of the next claim for this queue, `wanted` tickets in sum at most.

        `room` caps the lanes of types with a limit in this process.
        """
        caps = room or {}
        entries: list[Entry] = []
        ring = self.ring
        quantum = _LEAST_QUANTUM
        if len(ring) <= _FEW_LANES:
            heavy = sum(lane.weight for lane in ring if lane.open) or 1
            quantum = max(1, wanted // heavy)
        passed: list[Lane] = []
        for _ in range(len(ring)):
            if wanted <= 0:
                break
            lane = ring.popleft()
            if not lane.open:
                lane.in_ring = False
                continue
            cap = None if lane.job_type is None else caps.get(lane.job_type)
            if lane.shut_until > now or (cap is not None and cap[0] <= 0):
                passed.append(lane)
                continue
            if lane.deficit <= 0:
                lane.deficit += quantum * lane.weight
            count = min(lane.deficit, wanted)
            if cap is not None:
                count = min(count, cap[0])
                cap[0] -= count
            if count < wanted or count == lane.deficit:
                ring.append(lane)
            else:
                passed.append(lane)  # its turn is not over: it goes first in the next claim
            priority = min(lane.open)
            cursor = lane.cursors[priority]
            head = cursor.at is None or cursor.head_due <= now
            entries.append(Entry(self.name, lane.id, priority, None if head else cursor.at, count, head))
            wanted -= count
        # Who was passed over for want of a permit keeps its place, or one tenant of a limited type would starve another.
        ring.extendleft(reversed(passed))
        return entries

    def passed_over(self, ids: Iterable[bytes]) -> None:
        """These lanes were planned for but given nothing, for want of a token: they go first in the next claim."""
        for id in reversed(list(ids)):
            lane = self.lanes[id]
            if lane.in_ring:
                self.ring.remove(lane)
                self.ring.appendleft(lane)

    def taken(self, entry: Entry, got: int, last: bytes | None, now: float, cost: float) -> None:
        """What the claim brought for one line: `got` tickets, the last of them with this key."""
        lane = self.lanes[entry.lane]
        cursor = lane.cursors[entry.priority]
        lane.deficit -= got
        full = got >= entry.count
        if entry.head:
            behind = cursor.at is not None and last is not None and last < cursor.at
            if full and behind:
                cursor.head_due = 0.0  # more may be behind: look again from the head at once
            else:
                cursor.head_due = now + max(_HEAD_EVERY, _HEAD_SHARE * cost)
                if last is not None and (full or cursor.at is None):
                    cursor.at = last
        elif last is not None and (cursor.at is None or last > cursor.at):
            cursor.at = last
        if not full:
            lane.open.discard(entry.priority)
            if not lane.open:
                lane.deficit = 0

    def next_open(self, now: float) -> float:
        """When the first lane that is shut for want of a token opens; infinity if none is."""
        return min(
            (lane.shut_until for lane in self.ring if lane.open and lane.shut_until > now), default=inf
        )

    def claimable(self, now: float, room: Room | None = None) -> bool:
        """Is there a lane that a claim could be planned for at this moment?"""
        caps = room or {}
        return any(
            lane.open
            and lane.shut_until <= now
            and (lane.job_type is None or lane.job_type not in caps or caps[lane.job_type][0] > 0)
            for lane in self.ring
        )

    def wants_slots(self, now: float) -> bool:
        """Could more tickets start if there were more slots? Not those of a lane whose limit lets nothing more run."""
        return any(lane.open and (lane.shut_until <= now or lane.soft) for lane in self.ring)

    @property
    def has_work(self) -> bool:
        """Is any lane known to have tickets left?"""
        return any(lane.open for lane in self.ring)
