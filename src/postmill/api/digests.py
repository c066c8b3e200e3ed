"""Checksums in headers: `Content-Digest` (RFC 9530) with SHA-256."""

from __future__ import annotations

import base64
import binascii
import re

from postmill.api.problems import Problem

HEADER = "content-digest"

_SHA_256 = re.compile(r"(?:^|,)[ \t]*sha-256=:([A-Za-z0-9+/=]+):[ \t]*(?=$|,|;)")


def digest_of(sha256: str) -> str:
    """The header's value for a checksum in hexadecimal digits."""
    return f"sha-256=:{base64.b64encode(bytes.fromhex(sha256)).decode()}:"


def announced(header: str | None) -> bytes | None:
    """The checksum that a request says its body has; None without the header.

    Raises:
        Problem: 422 where the header has no SHA-256, or one that is none.
    """
    if header is None:
        return None
    found = _SHA_256.search(header)
    try:
        sum = base64.b64decode(found[1], validate=True) if found else b""
    except binascii.Error:
        sum = b""
    if len(sum) != 32:
        raise Problem(
            422, "invalid-digest", "Content-Digest: write sha-256=:…: with the checksum in base64 (RFC 9530)"
        )
    return sum
