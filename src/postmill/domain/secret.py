"""Secrets that are shown once and kept as their SHA-256: API keys, login links, cookies.

They are 256 random bits, so a plain hash is as good as a slow one: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field

KEY_PREFIX = "pm_"
"""What API keys begin with, so that scanners for leaked secrets, and people, know one."""

SHOWN = 6
"""Random characters of a key that lists show; 220 bits remain unknown."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A new secret. `clear` is for its owner, once; `hash` and `prefix` are what is stored."""

    clear: str = field(repr=False)
    hash: bytes = field(repr=False)
    prefix: str


def new_secret(prefix: str = "") -> Secret:
    """256 random bits as text that fits into a header, a URL and a cookie."""
    clear = prefix + secrets.token_urlsafe(32)
    return Secret(clear, hashed(clear), clear[: len(prefix) + SHOWN])


def hashed(clear: str) -> bytes:
    """The SHA-256 of a secret that came in, however odd its characters are."""
    return hashlib.sha256(clear.encode("utf-8", "surrogatepass")).digest()
