"""The state of the wizard: all of it is in the address, so that Back and bookmarks work, and nothing is kept here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from postmill.console.frame.arguments import Arguments, refused
from postmill.console.frame.words import _
from postmill.domain.errors import InvalidValue
from postmill.domain.pace import KINDS, MOST_PRIORITY, MOST_RATE, Kind, Pace
from postmill.domain.tags import changes
from postmill.operate import bulk
from postmill.store.bulk_preview import BulkPreview
from postmill.store.flow import Flow

Step = Literal["scope", "impact", "how", "canary", "confirm"]
Version = Literal["current", "original", "unchanged"]
VERSIONS: tuple[Version, ...] = ("current", "original", "unchanged")
STEPS: tuple[Step, ...] = ("scope", "impact", "how", "canary", "confirm")

LOW = 1000
"""The priority of replays, where nothing else is said: below live traffic, which has 100 by default."""
CANARY = 10
STOP_PERCENT = 10.0
TYPED_ABOVE = 1000
"""With more jobs than that their number is typed in before anything begins."""


@dataclass(frozen=True, slots=True)
class Wizard:
    """What was chosen so far.

    Attributes:
        act, q, ids: what is done, and to which jobs: a query, or these.
        cut: jobs with ids from here on are not meant; None before the first look.
        priority: of replays, or the new one; None: that of the old jobs.
        stop: per cent of failures above which it is paused.
        version: under which version of their job type replays run; `unchanged`: only jobs whose type has not changed.
    """

    step: Step
    act: Kind
    q: str
    ids: tuple[UUID, ...]
    cut: UUID | None
    again: bool
    despite: bool
    ask: bool
    version: Version
    fair: bool
    priority: int | None
    rate: float | None
    queue: str
    run_at: datetime | None
    tags: str
    start_at: datetime | None
    canary: int
    stop: float

    @classmethod
    def read(cls, args: Arguments) -> Wizard:
        """From an address or a form. Raises Problem (422) for a value that cannot be."""
        act: Kind = args.one_of("act", KINDS, "replay")
        given = args.everything()
        default = LOW if act == "replay" and "priority" not in given else None
        return cls(
            step=args.one_of("step", STEPS, "scope"),
            act=act,
            q=args.text("q"),
            ids=tuple(args.ids("id")),
            cut=args.id("cut"),
            again=_on(args, "again", False),
            despite=_on(args, "despite", False),
            ask=_on(args, "ask", False),
            version=args.one_of("version", VERSIONS, "current"),
            fair=_on(args, "fair", True),
            priority=args.whole("priority", default, least=-MOST_PRIORITY, most=MOST_PRIORITY),
            rate=args.number("rate", None, least=0.001, most=MOST_RATE),
            queue=args.text("queue"),
            run_at=_moment(args, "run_at"),
            tags=args.text("tags"),
            start_at=_moment(args, "start_at"),
            canary=args.whole("canary", 0 if "canary" in given else CANARY, most=100_000),
            stop=args.number("stop", STOP_PERCENT, least=0.0, most=100.0),
        )

    @property
    def steps(self) -> tuple[Step, ...]:
        """Those that there are: only a replay makes something of which a few could be tried first."""
        return STEPS if self.act == "replay" else tuple(step for step in STEPS if step != "canary")

    def beside(self, by: int) -> Step | None:
        """The step before or behind this one."""
        place = (self.steps.index(self.step) if self.step in self.steps else 0) + by
        return self.steps[place] if 0 <= place < len(self.steps) else None

    def fields(self, *shown: str) -> Iterator[tuple[str, str]]:
        """Everything as hidden fields, but what the form itself asks for."""
        flags = {
            "again": self.again,
            "despite": self.despite,
            "ask": self.ask,
            "fair": self.fair,
        }
        values: dict[str, object] = {
            "act": self.act, "q": self.q or None, "cut": self.cut, "rate": None if self.rate is None else f"{self.rate:g}",
            "version": None if self.version == "current" else self.version,
            "queue": self.queue or None, "run_at": self.run_at and f"{self.run_at:%Y-%m-%dT%H:%M}", "tags": self.tags or None,
            "start_at": self.start_at and f"{self.start_at:%Y-%m-%dT%H:%M}",
            "priority": "" if self.priority is None else self.priority, "canary": self.canary, "stop": f"{self.stop:g}",
            **{name: "on" if on else "off" for name, on in flags.items()},
        }  # fmt: skip
        for name, value in values.items():
            if name not in shown and value is not None:
                yield name, str(value)
        if "id" not in shown:
            for id in self.ids:
                yield "id", str(id)

    def query(self, step: Step) -> dict[str, list[str] | str]:
        """The same state at another step, as the query of an address."""
        made: dict[str, list[str] | str] = {}
        for name, value in self.fields():
            if name == "id":
                ids = made.setdefault("id", [])
                assert isinstance(ids, list)
                ids.append(value)
            else:
                made[name] = value
        return {**made, "step": step}

    def meant(self, *, payloads: bool, schema: str) -> Flow[bulk.Meant]:
        """The jobs. Raises InvalidValue, QueryError."""
        if self.ids:
            return bulk.by_ids(self.ids)
        return (yield from bulk.by_query(self.q, payloads=payloads, schema=schema))

    def pace(self, *, held: bool, undo: float, above: int | None) -> Pace:
        """How it is gone about."""
        replay = self.act == "replay"
        return Pace(
            rate=self.rate,
            canary=self.canary if replay else 0,
            stop_ratio=self.stop / 100 if replay else None,
            again=replay and self.again,
            confirm=self.ask and self.act in ("replay", "retry"),
            despite_success=replay and self.despite,
            same_version=replay and self.version == "unchanged",
            original_version=replay and self.version == "original",
            fair=self.fair,
            priority=self.priority if self.act in ("replay", "priority") else None,
            queue=(self.queue or None) if self.act == "move" else None,
            run_at=self.run_at if self.act == "run_at" else None,
            tags=changes(self.tags) if self.act == "tag" else None,
            start_at=self.start_at,
            undo_seconds=undo or None,
            held=held,
            approve_above=above,
        )

    def faults(self) -> list[str]:
        """What is missing for this act, in words."""
        missing = {
            "priority": self.priority is None and _("Which priority? A number; a lower one is sooner."),
            "move": not self.queue and _("Which queue?"),
            "run_at": self.run_at is None and _("When? A moment in UTC."),
        }
        found = missing.get(self.act)
        if self.act == "tag":
            try:
                changes(self.tags)
            except InvalidValue as fault:
                found = _("What cannot be: %s.") % fault
        return [found] if found else []

    def unsafe(self, found: BulkPreview) -> bool:
        """Whether kinds are among them that are not replayed without a thought."""
        return self.act in ("replay", "retry") and (found.never > 0 or found.ask > 0)

    def fit(self, found: BulkPreview) -> int:
        """Of those looked at, to how many the act does something, as it was chosen so far: by their state, and by all that
        leaves jobs as they are."""
        return found.touched(
            self.act, again=self.again, confirm=self.ask, despite_success=self.despite,
            same_version=self.version == "unchanged", original_version=self.version == "original",
        )  # fmt: skip

    def replayed(self, found: BulkPreview) -> int:
        """Of those looked at, how many dead letters were replayed before."""
        return sum(one.count for one in found.by_state if one.name == "replayed")

    def met(self, found: BulkPreview) -> int:
        """How many jobs it is about: those that fit; all that were counted, where not all of these were looked at."""
        whole = found.complete and found.looked_at == found.count
        return self.fit(found) if whole else found.count

    def typed(self, found: BulkPreview) -> bool:
        """Whether the number of jobs has to be typed in."""
        return self.met(found) > TYPED_ABOVE or not found.complete or self.unsafe(found)


def _on(args: Arguments, name: str, default: bool) -> bool:
    return args.one_of(name, ("on", "off"), "on" if default else "off") == "on"


def _moment(args: Arguments, name: str) -> datetime | None:
    text = args.text(name)
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise refused(
            name, _("must be a moment such as 2026-02-16T10:30, in UTC, not %r") % text[:40]
        ) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    if not 1970 <= moment.year <= 9000:
        raise refused(name, _("must be a moment between 1970 and 9000"))
    return moment
