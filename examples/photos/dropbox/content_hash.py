"""Dropbox's content hash: https://www.dropbox.com/developers/reference/content-hash"""

from __future__ import annotations

from hashlib import sha256

BLOCK = 4 * 1024 * 1024


def content_hash(content: bytes) -> str:
    """SHA-256 over the SHA-256 of each block of 4 MiB, in hex."""
    whole = sha256()
    for start in range(0, len(content), BLOCK):
        whole.update(sha256(content[start : start + BLOCK]).digest())
    return whole.hexdigest()
