"""What a report must match to change anything: the job, its holder and the number of the claim."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Fence:
    job_id: UUID
    holder: UUID
    claim_no: int
    tenant_id: UUID
    started: float = field(default_factory=time.perf_counter)
    workflow_id: UUID | None = None
    fanned: list[str] = field(default_factory=list)
    """Steps that its success brings, as one JSON text."""

    def micros(self) -> int:
        """Microseconds since the handler's start."""
        return int((time.perf_counter() - self.started) * 1_000_000)
