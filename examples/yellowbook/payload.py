"""The payload of `generate-embedding`, as its design has it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from uuid import UUID


@dataclass(frozen=True, slots=True)
class EmbeddingJobPayload:
    """`attempt` counts from 1; the stored payload has 1, and at hand-over it is the ticket's."""

    businessId: UUID
    text: str
    attempt: int
    enqueuedAt: datetime

    @property
    def hash(self) -> str:
        """Of the text, as the database computes it (`yellow_book_hash`)."""
        return sha256(self.text.encode()).hexdigest()
