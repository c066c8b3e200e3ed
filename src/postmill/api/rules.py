"""What definitions ask of a job, remembered: the door says when a definition has another version by now."""

from __future__ import annotations

from collections import OrderedDict

from postmill.domain.enqueue_rules import EnqueueRules

MOST = 1000


class Rules:
    """The rules of the last definitions that were asked for, by the name that was asked for."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, EnqueueRules] = OrderedDict()

    def get(self, name: str) -> EnqueueRules | None:
        """The rules as they were at some time."""
        return self._known.get(name)

    def put(self, name: str, rules: EnqueueRules) -> None:
        """Remember them; the oldest of too many is forgotten."""
        if len(self._known) >= MOST:
            self._known.popitem(last=False)
        self._known[name] = rules

    def forget(self, name: str) -> None:
        """They have changed."""
        self._known.pop(name, None)
