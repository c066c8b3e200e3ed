"""The chain that seals the audit log: each hash covers the row and the hash before it.

Source: the design's "Audit"; seed 5, "Audit and traceability".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from postmill.domain.errors import PostmillError

GENESIS = bytes(32)
"""What stands before the first row."""


def chain_hash(previous: bytes, row: str) -> bytes:
    """The hash of a row in its canonical text, after the hash of the row before it: SHA-256 over both."""
    return hashlib.sha256(previous + row.encode()).digest()


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in the chain, to be kept elsewhere: written as `<n>:<hash in hex>`.

    Who rewrites the whole chain can make it agree with itself, but not with an anchor that he cannot reach.
    """

    n: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.n}:{self.hash.hex()}"

    @classmethod
    def parse(cls, text: str) -> Anchor:
        """Raises ValueError for what is no anchor."""
        number, _, digits = text.strip().partition(":")
        if not (number.isascii() and number.isdigit() and len(digits) == 64):
            raise ValueError(
                f"{text!r} is no anchor; it is <number>:<64 hex digits>, as audit verify prints it"
            )
        return cls(int(number), bytes.fromhex(digits))


class AuditBroken(PostmillError):
    """The audit log is not as it was written. `n` is the number of the first link that is wrong, if it has one."""

    def __init__(self, message: str, n: int | None = None) -> None:
        super().__init__(message)
        self.n = n


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the chain as it is stored, with the canonical text of its row; None where the row is gone."""

    n: int
    audit_id: str
    hash: bytes
    row: str | None


def follow(links: Iterable[Link], end: Anchor, anchors: Sequence[Anchor] = ()) -> Anchor:
    """Follows the chain on from `end`; the new end.

    Raises:
        AuditBroken: names the first link that is missing, whose row is gone or changed, or which is no longer what
            an anchor says.
    """
    for link in links:
        if link.n != end.n + 1:
            raise AuditBroken(f"link {end.n + 1} is gone: after {end.n} comes {link.n}", end.n + 1)
        if link.row is None:
            raise AuditBroken(f"the row {link.audit_id} of link {link.n} is gone", link.n)
        if chain_hash(end.hash, link.row) != link.hash:
            raise AuditBroken(
                f"the row {link.audit_id} of link {link.n}, or the link itself, was changed", link.n
            )
        if any(anchor.n == link.n and anchor.hash != link.hash for anchor in anchors):
            raise AuditBroken(
                f"link {link.n} is not what its anchor says: the chain was written anew", link.n
            )
        end = Anchor(link.n, link.hash)
    return end
