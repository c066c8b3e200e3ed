"""What a claim with limits says beside its tickets: lanes that a limit binds, and where to count seats from."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from postmill.engine.lanes import Entry, QueueLanes
from postmill.engine.scout import Scout
from postmill.engine.seats import Seats
from postmill.engine.work import CONTENDED, ID, KEY_BOUND, LIMIT_ID, LOW, READY_AT, SEATS, SLOT, WAIT, Row


class LimitedAnswer:
    """Reads one answer after another.

    Attributes:
        contended: somebody else was counting when the last claim asked; it is worth another try in milliseconds.
        bound: of lines that a limit binds, the instant of the first ticket that may not start.
    """

    def __init__(self, lanes: Mapping[str, QueueLanes], scout: Scout, seats: Seats) -> None:
        self._lanes = lanes
        self._scout = scout
        self._seats = seats
        self.contended = False
        self.bound: dict[int, bytes | None] = {}

    def note(self, entries: list[Entry], rows: list[Row]) -> list[Row]:
        """Note what is no ticket; the tickets. A line that gave fewer than wanted because of a limit counts as full."""
        now = monotonic()
        self.contended = False
        tickets: list[Row] = []
        told: list[Row] = []
        counts = [0] * len(entries)
        keys: list[bytes | None] = [None] * len(entries)
        for row in rows:
            if row[ID] is not None:
                tickets.append(row)
                at = row[SLOT] - 1
                counts[at] += 1
                keys[at] = row[SEATS]
            elif row[SLOT] == 0:
                self._seats.learn(row[KEY_BOUND], row[LOW])
            else:
                told.append(row)
        for entry, held in zip(entries, keys, strict=True):
            if held is not None:
                self._lanes[entry.queue].lanes[entry.lane].keys = held
        for row in told:
            at = row[SLOT] - 1
            entries[at].count = counts[at]
            self._bind(entries[at], at, row, now)
        for queue, lanes in self._lanes.items():
            lanes.passed_over(entry.lane for entry in entries if entry.queue == queue and entry.count == 0)
        return tickets

    def _bind(self, entry: Entry, at: int, row: Row, now: float) -> None:
        lane = self._lanes[entry.queue].lanes[entry.lane]
        if row[READY_AT] is not None:
            self.bound[at] = row[READY_AT]
        if row[LIMIT_ID] is None:
            self._scout.discover_soon()  # tickets went to the lane that their type has by now
        elif row[CONTENDED]:
            self.contended = True
        elif row[WAIT] > 0:
            lane.shut_until = now + row[WAIT]
        elif row[KEY_BOUND] is None:
            self._lanes[entry.queue].until_slot_free(lane, roomy=row[WAIT] == 0)
        else:
            lane.keys = lane.keys or row[KEY_BOUND]
            self._seats.block(entry.queue, lane, row[KEY_BOUND], row[LIMIT_ID])
