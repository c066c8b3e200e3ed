"""What a page has just read for one of its live parts, for its other parts and for the same person's other tabs.

One ping makes every tab ask for each part that it shows, and a part takes all that its page reads. So the first of them
reads, and within a second the others are shown the same: only while this process hears of changes, and only if it has heard
of none since that reading began.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from time import monotonic

from jinja2 import Template
from jinja2.runtime import Context

SECONDS = 1.0
MOST = 500
"""Pages that are remembered at once."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A page as it was read. `part`: the only part that the reading was for; None: it was for all."""

    began: float
    template: Template
    values: Context
    part: str | None


class SharedPages:
    """Those of one process. `unchanged(moment)`: whether nothing was heard of since this moment of the monotonic clock."""

    def __init__(self, unchanged: Callable[[float], bool]) -> None:
        self._unchanged = unchanged
        self._made: dict[Hashable, Shared] = {}
        self._over_at = 0.0

    def find(self, key: Hashable, part: str) -> Shared | None:
        """The page, if it still holds and has this part."""
        found = self._made.get((key, None)) or self._made.get((key, part))
        return found if found is not None and self._holds(found) else None

    def keep(self, key: Hashable, page: Shared) -> None:
        """A page whose part was asked for."""
        if len(self._made) >= MOST:
            self._made = {one: made for one, made in self._made.items() if self._holds(made)}
        if self._holds(page) and len(self._made) < MOST:
            self._made[key, page.part] = page

    def over(self) -> None:
        """Somebody has done something: everything is read anew."""
        self._made.clear()
        self._over_at = monotonic()

    def _holds(self, page: Shared) -> bool:
        recent = monotonic() - page.began < SECONDS and page.began > self._over_at
        return recent and self._unchanged(page.began)
