"""Which lanes wait for a seat of which limit, and from which number on a limit's seats must be counted. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from math import inf

from postmill.engine.lanes import Lane

_LOWS_KEPT = 10_000
_SWEEP_EVERY = 0.25  # seconds between looks at lanes that wait for a seat while this worker has other work
_SWEEP_MOST = 100  # lanes of one such look, those that wait longest
_KEY = 16  # bytes


class Seats:
    """A lane at its limit is left out of claims until a seat of the key that binds it is free."""

    def __init__(self) -> None:
        self._blocked: dict[tuple[str, bytes], tuple[Lane, bytes, int]] = {}  # by queue and lane
        self._by_key: dict[bytes, set[tuple[str, bytes]]] = {}
        self._lows: dict[bytes, int] = {}
        self._sweep_at = 0.0

    def __len__(self) -> int:
        return len(self._blocked)

    @property
    def limits(self) -> list[int]:
        """The limits that bind a lane here."""
        return sorted({limit for _, _, limit in self._blocked.values()})

    def block(self, queue: str, lane: Lane, key: bytes, limit: int) -> None:
        """This lane waits for a seat of the key."""
        place = (queue, lane.id)
        self._forget(place)
        lane.shut_until = inf
        self._blocked[place] = (lane, key, limit)
        self._by_key.setdefault(key, set()).add(place)

    def free(self, keys: Iterable[bytes]) -> set[str]:
        """Seats of these keys are free: their lanes may be claimed from again. The queues of these."""
        places = [place for key in keys for place in self._by_key.get(key, ())]
        return {self._open(place) for place in places}

    def free_all(self) -> set[str]:
        """Nobody knows what was freed: look at all of them again."""
        return {self._open(place) for place in list(self._blocked)}

    def sweep(self, now: float) -> None:
        """While there is other work nobody rings: now and then look at those that wait longest."""
        if self._blocked and now >= self._sweep_at:
            self._sweep_at = now + _SWEEP_EVERY
            for place in list(self._blocked)[:_SWEEP_MOST]:
                self._open(place)

    def learn(self, key: bytes, low: int) -> None:
        """No live seat of the key has a lower number."""
        if len(self._lows) >= _LOWS_KEPT and key not in self._lows:
            # The older half at once: to drop the first of a dict again and again walks over what was dropped before.
            self._lows = dict(islice(self._lows.items(), _LOWS_KEPT // 2, None))
        self._lows[key] = low

    def lows(self, lanes: Iterable[Lane]) -> dict[bytes, int]:
        """What is known of the keys that the last ticket of each lane was under."""
        found: dict[bytes, int] = {}
        for lane in lanes:
            for at in range(0, len(lane.keys), _KEY):
                key = lane.keys[at : at + _KEY]
                low = self._lows.get(key)
                if low is not None:
                    found[key] = low
        return found

    def forget_lows(self) -> None:
        """After an outage another server may have taken over, whose numbers lag behind."""
        self._lows.clear()

    def _open(self, place: tuple[str, bytes]) -> str:
        lane = self._forget(place)
        if lane is not None:
            lane.shut_until = 0.0
        return place[0]

    def _forget(self, place: tuple[str, bytes]) -> Lane | None:
        blocked = self._blocked.pop(place, None)
        if blocked is None:
            return None
        lane, key, _ = blocked
        places = self._by_key[key]
        places.discard(place)
        if not places:
            del self._by_key[key]
        return lane


def split(keys: bytes) -> list[bytes]:
    """The keys that a ticket holds seats of."""
    return [keys[at : at + _KEY] for at in range(0, len(keys), _KEY)]
