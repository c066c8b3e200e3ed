"""API keys that were found a moment ago. A revoked one opens nothing for all that: `begin_request` asks again."""

from __future__ import annotations

from time import monotonic

from postmill.store.access import FoundKey

SECONDS = 5.0
MOST = 1000


class KeyCache:
    """Found keys by their hash, for 5 s; a look-up is a third of what a small request costs the database."""

    def __init__(self) -> None:
        self._found: dict[bytes, tuple[FoundKey, float]] = {}

    def get(self, hash: bytes) -> FoundKey | None:
        """The key, if it was found in the last seconds."""
        found = self._found.get(hash)
        return found[0] if found is not None and found[1] > monotonic() else None

    def put(self, hash: bytes, key: FoundKey) -> None:
        """Remember a key that was just found."""
        if len(self._found) >= MOST:
            self._found.clear()
        self._found[hash] = (key, monotonic() + SECONDS)

    def forget(self) -> None:
        """One of them opens no longer: ask for all anew."""
        self._found.clear()
