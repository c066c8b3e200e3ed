"""What a bulk act does to jobs, and how it goes about them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from math import isfinite
from typing import Any, Literal, get_args

from postmill.domain.errors import InvalidValue
from postmill.domain.tags import check_changes

Kind = Literal["replay", "retry", "cancel", "discard", "priority", "move", "run_at", "tag"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LETTER_KINDS: tuple[Kind, ...] = ("replay", "discard")
"""Those that a filter of dead letters can be given to."""

MOST_RATE = 10_000.0
"""Jobs a second; no database does more."""

MOST_PRIORITY = 2**15 - 1

_REPLAYS = (
    "canary",
    "again",
    "confirm",
    "despite_success",
    "version",
    "same_version",
    "original_version",
    "stop_ratio",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How an operation goes about its jobs.

    Attributes:
        rate: jobs a second at most; None: as many as a worker gets done.
        canary: so many are replayed first, and the rest waits until all of them have ended; more failures among them than
            `stop_ratio` pause the operation. 0: no canary.
        stop_ratio: share of failures, 0 to 1, above which it is paused: of the canary, and of the last 1,000 replays that
            have ended since (once there are 20). None: any failure of the canary, and none after it.
        again: also those that were replayed before, if that replay has ended.
        confirm: somebody was asked: also those whose definition says `replay_class = ask`.
        despite_success: also those of which a later job with the same key, or the same type and payload, has succeeded.
        version: only once the definition is at this version; None: at any.
        same_version: only jobs whose definition is still the one under which they were enqueued.
        original_version: each runs under the version of its definition that it was enqueued under: only workers that run
            this version take it.
        fair: tenants take turns, one job each; False: the oldest first.
        priority: of the new jobs of a replay (None: that of the old ones), or the new one of `priority`.
        queue: where to, of `move`.
        run_at: when, of `run_at`; one that has passed is now.
        tags: of `tag`: those to be given, and with a minus before them those to be taken away.
        start_at: nothing is done before.
        undo_seconds: nothing is done for so long; an abort until then leaves everything as it was.
        held: once all jobs are counted it is paused, so that somebody sees how many before anything is done.
        approve_above: with more jobs than that somebody else has to approve it. None: nobody.
    """

    rate: float | None = None
    canary: int = 0
    stop_ratio: float | None = None
    again: bool = False
    confirm: bool = False
    despite_success: bool = False
    version: int | None = None
    same_version: bool = False
    original_version: bool = False
    fair: bool = False
    priority: int | None = None
    queue: str | None = None
    run_at: datetime | None = None
    tags: tuple[str, ...] | None = None
    start_at: datetime | None = None
    undo_seconds: float | None = None
    held: bool = False
    approve_above: int | None = None

    def __post_init__(self) -> None:
        if self.rate is not None and not (isfinite(self.rate) and 0 < self.rate <= MOST_RATE):
            raise InvalidValue(
                f"rate: expected jobs a second, above 0 and at most {MOST_RATE:g}, got {self.rate}"
            )
        if not 0 <= self.canary <= 100_000:
            raise InvalidValue(f"canary: expected a number of jobs from 0 to 100,000, got {self.canary}")
        if self.stop_ratio is not None and not 0 <= self.stop_ratio <= 1:
            raise InvalidValue(f"stop_ratio: expected a share from 0 to 1, got {self.stop_ratio}")
        if self.priority is not None and not -MOST_PRIORITY <= self.priority <= MOST_PRIORITY:
            raise InvalidValue(
                f"priority: expected a number from -{MOST_PRIORITY:,} to {MOST_PRIORITY:,}, got {self.priority}"
            )
        if self.tags is not None:
            check_changes(self.tags)
        for name in ("run_at", "start_at"):
            moment = getattr(self, name)
            if moment is not None and moment.utcoffset() is None:
                raise InvalidValue(f"{name} is a datetime without a time zone; give it one")

    def check(self, kind: Kind) -> None:
        """Raises InvalidValue for what an act of this kind lacks or cannot have."""
        for name in _REPLAYS:
            if getattr(self, name) not in (None, False, 0) and kind != "replay":
                if name == "confirm" and kind == "retry":
                    continue
                raise InvalidValue(f"{name} goes with a replay only: a {kind} runs nothing anew")
        for name, kinds in (
            ("priority", ("replay", "priority")),
            ("queue", ("move",)),
            ("run_at", ("run_at",)),
            ("tags", ("tag",)),
        ):
            given = getattr(self, name) is not None
            if given and kind not in kinds:
                raise InvalidValue(f"{name} goes with {' or '.join(kinds)} only, not with {kind}")
            if not given and kind == kinds[-1]:
                raise InvalidValue(f"{kind} needs {name}: the new one")

    @property
    def json(self) -> dict[str, Any]:
        """What is not the default."""
        made = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: value for name, value in made.items() if value is not None and value is not False}
        if not self.canary:
            given.pop("canary", None)
        return {
            name: value.isoformat() if isinstance(value, datetime) else value for name, value in given.items()
        }
