"""What the answers to a registration mean."""

from __future__ import annotations

from collections.abc import Mapping

from postmill.domain.errors import DefinitionError

_WHY = {
    "other_kind": "a stored definition of another kind has this name; rename the function, or edit the definition's kind",
    "other_queue": "its queue is claimed by workers over HTTP; a queue serves either http definitions or the others",
}


def refuse_unregistered(answers: Mapping[str, str]) -> dict[str, str]:
    """The answers, if every type was registered; else DefinitionError with the first name that was not, and why."""
    for name, status in sorted(answers.items()):
        if status in _WHY:
            raise DefinitionError(f"job type {name!r} cannot be registered: {_WHY[status]}")
    return dict(answers)
