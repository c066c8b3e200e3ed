"""What servers and policies say about the time of another attempt."""

from __future__ import annotations

from postmill.domain.retry import delay_of
from postmill.domain.retry_after import retry_after

__all__ = ["retry_after", "delay_of"]
