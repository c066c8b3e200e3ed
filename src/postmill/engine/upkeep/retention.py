"""What a worker's settings say of retention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RetentionConfig:
    """What a worker's settings say of retention; an operator's rules go before it.

    Attributes:
        keep: seconds by subject (see `postmill retention list`); None is for ever, what is not named stays as it is.
        width: seconds that one partition holds; None leaves what the database has (7 days).
        keep_reasons: reasons and error codes of dead letters that are never deleted; None leaves what the database has.
    """

    keep: Mapping[str, float | None] = field(default_factory=dict)
    width: float | None = None
    keep_reasons: tuple[str, ...] | None = None

    @property
    def says(self) -> bool:
        """Whether it says anything."""
        return bool(self.keep) or self.width is not None or self.keep_reasons is not None
