"""Where a list of jobs leads: other states, other spans of time, views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote_plus

from postmill.console.frame.nav import N_
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.domain.query import Query
from postmill.domain.query_fields import REPLAYED, RETRYING
from postmill.domain.query_words import written
from postmill.store.finding import FoundCount
from postmill.store.views import SavedView

TABS = (
    "queued",
    "running",
    "scheduled",
    RETRYING,
    "blocked",
    "succeeded",
    "failed",
    "dead_letter",
    REPLAYED,
    "canceled",
)
CARDS = ("queued", "running", "failed", "dead_letter")
SPANS = (("1h", N_("1 hour")), ("24h", N_("24 hours")), ("7d", N_("7 days")), ("", N_("any time")))


@dataclass(frozen=True, slots=True)
class Tab:
    """A state with the number of jobs; `here`: it is the one that is shown."""

    word: str
    href: str
    here: bool
    n: int | None = None
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A list with a name. `saved` None: one of ours."""

    name: str
    href: str
    here: bool
    saved: SavedView | None = None


def tabs(visit: Visit, query: Query, counts: list[FoundCount] | None) -> list[Tab]:
    """All, and each state."""
    known = {count.state: count for count in counts or ()}
    asked = {value.text for term in query.named("state") if not term.negative for value in term.values}
    made = [Tab("all", visit.same(q=str(query.without("state")) or None), not query.named("state"))]
    for word in TABS:
        count = known.get(word)
        href = visit.same(q=str(query.with_values("state", word)))
        made.append(
            Tab(
                word,
                href,
                asked == {word},
                # Nothing among those that were looked at is no number.
                None if count is None or (count.at_least and not count.n) else count.n,
                bool(count and count.at_least),
            )
        )
    return made


def spans(visit: Visit, query: Query) -> list[tuple[str, str, bool]]:
    """Spans of time that end now: name, link, whether it is the one that is shown."""
    bare = query.without("since", "until", "age")
    since = [value.text for term in query.named("since") for value in term.values]
    made = []
    for text, name in SPANS:
        q = str(bare.with_values("since", text) if text else bare)
        here = since == ([text] if text else []) and not query.named("until") and not query.named("age")
        made.append((_(name), visit.same(q=q or None), here))
    return made


def within(visit: Visit, query: Query, starts: Sequence[datetime], width: float) -> list[str]:
    """The same list within each of these spans, so many seconds wide: what the bars of the chart lead to."""
    # The query is written and quoted once for all of them; a moment has nothing to be quoted but its colons.
    bare, rest = query.without("since", "until", "age"), visit.same(q=None)
    before = f"{rest}{'&' if '?' in rest else '?'}q={quote_plus(f'{bare} since:'.lstrip())}"
    ends = [_quoted(at) for at in (*starts, *(at + timedelta(seconds=width) for at in starts))]
    return [
        f"{before}{since}+until%3A{until}"
        for since, until in zip(ends[: len(starts)], ends[len(starts) :], strict=True)
    ]


def _quoted(moment: datetime) -> str:
    return f"{moment.astimezone(UTC).isoformat(timespec='seconds')[:19].replace(':', '%3A')}Z"


def views(visit: Visit, query: Query | None, saved: list[SavedView]) -> list[View]:
    """Ours, and those that somebody saved."""
    text = "" if query is None else str(query)
    own = f"actor:{written(visit.asked.principal.actor_id)}"
    ours = [
        (_("All"), ""),
        (_("All live"), "state:queued,running,scheduled,blocked"),
        (_("Failing"), f"state:{RETRYING},failed,dead_letter"),
        (_("Slow"), "ran:>30s"),
        (_("Mine"), own),
    ]
    made = [View(name, visit.url("/jobs", q=q or None), text == q) for name, q in ours]
    here = dict(parse_qsl(visit.here.partition("?")[2]))
    for view in saved:
        path = visit.url("/jobs")
        href = f"{path}?{view.query}" if view.query else path
        made.append(View(view.name, href, dict(parse_qsl(view.query)) == here, view))
    return made
