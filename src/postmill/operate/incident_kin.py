"""Incidents that have one cause: jobs of an error group that are given up, and the dead letters that pile up of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from postmill.store.incidents import IncidentView
from postmill.store.now import Scene

_CAUSES = ("job_exhausted", "dead_letters", "budget")
"""Kinds of which one says why, the first the most."""


@dataclass(frozen=True, slots=True)
class Kin:
    """An incident, and others of the same cause: what else is known of it."""

    head: IncidentView
    others: list[IncidentView]


def together(incidents: Sequence[IncidentView], scenes: Mapping[UUID, Scene]) -> list[Kin]:
    """Incidents in their order, those of one cause at the place of the first. Its head is the one that says most."""
    found: dict[object, list[IncidentView]] = {}
    for one in incidents:
        found.setdefault(_cause(one, scenes.get(one.id)), []).append(one)
    return [_kin(some) for some in found.values()]


def _kin(some: list[IncidentView]) -> Kin:
    head = min(some, key=lambda one: _CAUSES.index(one.kind) if one.kind in _CAUSES else 0)
    return Kin(head, [one for one in some if one is not head])


def _cause(one: IncidentView, scene: Scene | None) -> object:
    """What it has in common with others: its error group; of a type's letters the type; a budget of one period."""
    group = None if scene is None else scene.error_group
    match one.kind:
        case "job_exhausted" | "dead_letters" if group:
            return "error", group
        case "dead_letters" if one.job_type:
            return "type", one.job_type
        case "budget" if one.facts.get("budget_id"):
            return "budget", one.facts["budget_id"], one.facts.get("period")
        case _:
            return one.id
