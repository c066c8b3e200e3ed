"""Secrets do not belong into payloads (seed 5, ownership and security): the check of types that refuse them."""

from __future__ import annotations

from collections.abc import Collection

from postmill.domain.errors import PayloadRefused
from postmill.domain.payload import decode
from postmill.domain.redaction import secrets_in


def refuse_secrets(payload: bytes, names: Collection[str] = ()) -> None:
    """Raises PayloadRefused, naming the path, where a key looks like a secret or is among `names`, and has a value."""
    for path, _ in secrets_in(decode(payload), names):
        raise PayloadRefused(
            path, "looks like a secret, which jobs of this type must not carry; pass a reference to it"
        )
