"""Who fits a mission best: the order of proposals, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from examples.planner.statements import Row

MOST = 3
"""Proposals for one mission."""

FULL = 100
KNOWN_AVAILABLE = 20
PER_MISSION = 15
SAME_PROJECT = 10


@dataclass(frozen=True, slots=True)
class Proposal:
    """One suggestion; rank 1 is the best of its mission."""

    mission_id: UUID
    collaborator_id: UUID
    rank: int
    score: int
    reasons: list[str]


def ranked(candidates: Iterable[Row]) -> list[Proposal]:
    """The best of each mission's candidates, as candidates.sql gives them (by mission): all have the skill and the time.

    Points are for known availability and for knowing the project, and against those who have much to do that week.
    """
    made = []
    for mission, group in groupby(candidates, key=lambda one: one["mission_id"]):
        judged = sorted(
            ((_score(one), one) for one in group), key=lambda pair: (-pair[0], str(pair[1]["name"]))
        )
        made += [
            Proposal(mission, one["collaborator_id"], rank, score, _reasons(one))
            for rank, (score, one) in enumerate(judged[:MOST], 1)
        ]
    return made


def _score(one: Row) -> int:
    points: int = FULL - PER_MISSION * one["that_week"] + SAME_PROJECT * one["knows_project"]
    return max(0, points - (0 if one["available"] else KNOWN_AVAILABLE))


def _reasons(one: Row) -> list[str]:
    return [
        f"has the skill {one['skill']}",
        "is available" if one["available"] else "has not said whether available",
        f"{one['that_week']} missions that week",
        *(["knows the project"] if one["knows_project"] else []),
    ]
