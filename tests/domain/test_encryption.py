"""Payloads at rest: sealed for one tenant and type, opened by any key of the ring, damaged ones refused."""

from __future__ import annotations

import base64
import json
from uuid import UUID

import pytest

from postmill.domain.encryption import KeyMissing, KeyRing, NotOpened, is_sealed, new_key
from postmill.domain.errors import SettingsError

TENANT, OTHER = UUID(int=7), UUID(int=8)
PAYLOAD = b'{"iban": "DE02 1203 0000 0000 2020 51"}'


def test_there_and_back() -> None:
    ring = KeyRing.of([f"2031:{new_key()}"])
    sealed = ring.seal(PAYLOAD, TENANT, "pay")
    assert is_sealed(sealed)
    assert b"iban" not in sealed
    assert b"DE02" not in sealed
    assert ring.open(sealed, TENANT, "pay") == PAYLOAD
    assert ring.seal(PAYLOAD, TENANT, "pay") != sealed
    assert ring.open(PAYLOAD, TENANT, "pay") == PAYLOAD


def test_the_first_key_seals_and_all_open() -> None:
    old, new = f"old:{new_key()}", f"new:{new_key()}"
    before = KeyRing.of([old]).seal(PAYLOAD, TENANT, "pay")
    both = KeyRing.of([new, old])
    assert both.open(before, TENANT, "pay") == PAYLOAD
    with pytest.raises(KeyMissing, match="under key 'new'"):
        KeyRing.of([old]).open(both.seal(PAYLOAD, TENANT, "pay"), TENANT, "pay")


def test_it_opens_for_its_own_tenant_and_type_only() -> None:
    ring = KeyRing.of([f"k:{new_key()}"])
    sealed = ring.seal(PAYLOAD, TENANT, "pay")
    for tenant, job_type in ((OTHER, "pay"), (TENANT, "payout")):
        with pytest.raises(NotOpened):
            ring.open(sealed, tenant, job_type)


@pytest.mark.parametrize("part", ["data", "nonce"])
def test_damage_is_seen(part: str) -> None:
    ring = KeyRing.of([f"k:{new_key()}"])
    inner = json.loads(ring.seal(PAYLOAD, TENANT, "pay"))["$encrypted"]
    raw = bytearray(base64.b64decode(inner[part]))
    raw[0] ^= 1
    damaged = {"$encrypted": inner | {part: base64.b64encode(raw).decode()}}
    with pytest.raises(NotOpened):
        ring.open(json.dumps(damaged).encode(), TENANT, "pay")
    with pytest.raises(NotOpened):
        ring.open(b'{"$encrypted": 1}', TENANT, "pay")


def test_jsonb_may_write_it_otherwise() -> None:
    ring = KeyRing.of([f"k:{new_key()}"])
    stored = json.dumps(json.loads(ring.seal(PAYLOAD, TENANT, "pay")), indent=1, sort_keys=True).encode()
    assert is_sealed(stored)
    assert ring.open(stored, TENANT, "pay") == PAYLOAD
    assert not is_sealed(b'{"a": {"$encrypted": 1}}')


@pytest.mark.parametrize(
    "written",
    [
        [],
        ["nonsense"],
        ["k:c2hvcnQ="],
        [":" + "A" * 43 + "="],
        ["k k:" + "A" * 43 + "="],
        ["k:!" + "A" * 42 + "="],
    ],
)
def test_what_is_no_ring(written: list[str]) -> None:
    with pytest.raises(SettingsError, match="encryption"):
        KeyRing.of(written)


def test_keys_are_never_shown() -> None:
    key = new_key()
    ring = KeyRing.of([f"k:{key}"])
    assert key not in repr(ring)
    with pytest.raises(SettingsError) as refused:
        KeyRing.of([f"k:{key}", f"k:{key}"])
    assert key not in str(refused.value)
