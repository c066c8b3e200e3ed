"""The fence of an HTTP worker's job, as the worker holds it: an opaque token of session and claim."""

from __future__ import annotations

import base64
import binascii
from uuid import UUID

LENGTH = 32
"""Characters of a token."""

_HOLDER_BYTES = 16
_NUMBER_BYTES = 8


def fence_token(holder: UUID, claim_no: int) -> str:
    """The token of a claim, of 32 characters of base64url (RFC 4648, section 5)."""
    return base64.urlsafe_b64encode(holder.bytes + claim_no.to_bytes(_NUMBER_BYTES, "big")).decode()


def read_fence(token: str) -> tuple[UUID, int] | None:
    """Session and number of the claim; None for a text that is no token."""
    try:
        raw = base64.b64decode(token.encode(), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError, ValueError):
        return None
    number = int.from_bytes(raw[_HOLDER_BYTES:], "big")
    if len(raw) != _HOLDER_BYTES + _NUMBER_BYTES or number >= 1 << 63:
        return None
    return UUID(bytes=raw[:_HOLDER_BYTES]), number
