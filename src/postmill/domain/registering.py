"""What the answers to a registration mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from postmill.domain.errors import DefinitionError, SettingsError

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


_WHY_NO_BUDGET = {
    "unknown_tenant": "there is no tenant of the slug that `tenant` names",
    "other_unit": "a budget of that name above or below it has another unit",
    "spent_in": "money was spent in its old unit, which stays; give the new one another name",
}


def refuse_budgets(answers: Iterable[tuple[str, str]]) -> None:
    """SettingsError with the first declared budget that could not be had, and why."""
    for name, status in answers:
        if status in _WHY_NO_BUDGET:
            raise SettingsError(f"budgets.{name} cannot be had: {_WHY_NO_BUDGET[status]}")
