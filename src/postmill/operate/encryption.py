"""Payloads at rest, put under another key. A flow, to be run as those of `commands` are, best in autocommit mode."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from postmill.domain.encryption import KeyMissing, KeyRing, NotOpened
from postmill.store.catalog import DEFAULT_SCHEMA
from postmill.store.envelope import SealedPayload, reseal, sealed_payloads
from postmill.store.flow import Flow

AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Rotated:
    """What a rotation did: payloads under the current key now, and those that no key of the ring opens (left alone)."""

    resealed: int
    unopened: int


def rotate(ring: KeyRing, *, schema: str = DEFAULT_SCHEMA) -> Flow[Rotated]:
    """Seals every payload that is under another key of the ring with the current one.

    Each is one statement; it can be broken off and run again. Afterwards a key that was left out can be taken out of the
    ring, if nothing was `unopened`.
    """
    resealed = unopened = 0
    after = UUID(int=0)
    while True:
        found: list[SealedPayload] = yield sealed_payloads(after, ring.current, AT_ONCE, schema=schema)
        for one in found:
            try:
                clear = ring.open(one.payload.encode(), one.tenant_id, one.job_type)
            except (KeyMissing, NotOpened):
                unopened += 1
                continue
            sealed = ring.seal(clear, one.tenant_id, one.job_type)
            resealed += yield reseal(one.id, one.payload, sealed.decode(), schema=schema)
        if len(found) < AT_ONCE:
            return Rotated(resealed, unopened)
        after = found[-1].id
