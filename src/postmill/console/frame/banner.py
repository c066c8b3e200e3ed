"""What is said above every page, and nothing else is: nobody measures, nobody listens, queues or job types are paused, the
schema is being migrated, somebody looks at a tenant's pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from postmill.console.frame.pauses import paused_until
from postmill.console.frame.shown import seconds
from postmill.console.frame.words import _, many
from postmill.store.fleet import Above, above

if TYPE_CHECKING:
    from postmill.console.frame.visit import Visit

OLD = 120.0
"""Seconds after which figures that nobody measures any more are stale."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One line. `href`: where there is more; `link`: what leads there; `about`: what it is about, for pages that say it."""

    severity: str
    text: str
    href: str | None = None
    link: str = ""
    about: str = ""


async def notices(visit: Visit) -> list[Notice]:
    """Those of a page, by one statement."""
    found = await visit.read(above(schema=visit.schema))
    told = [*_database(found), *_paused(found, visit), *_held(found, visit)]
    if visit.scope.ops and _deaf(visit):
        text = _("The live listener is down: updates come by polling, some seconds later.")
        told.append(Notice("warning", text, visit.url("/system"), _("System")))
    return told


def _database(found: Above) -> list[Notice]:
    told = []
    if found.migrating:
        told.append(
            Notice("warning", _("A migration of the schema is running: acts may have to wait for it."))
        )
    if found.measured_seconds is not None and found.measured_seconds > OLD:
        age = seconds(found.measured_seconds)
        told.append(
            Notice(
                "warning", _("Depths and rates are %s old: no worker measures them. Lists are of now.") % age
            )
        )
    return told


def _paused(found: Above, visit: Visit) -> list[Notice]:
    if not found.paused:
        return []
    names = ", ".join(found.paused)
    if found.more_paused:
        names = _("%(names)s and %(n)d more") % {"names": names, "n": found.more_paused}
    n = len(found.paused) + found.more_paused
    text = many("Queue paused: %s", "Queues paused: %s", n) % names
    if not visit.scope.ops:
        return [Notice("warning", text, about="paused")]
    if n == 1:
        return [Notice("warning", text, visit.url(f"/queues/{found.paused[0]}"), _("Queue"), "paused")]
    return [Notice("warning", text, visit.url("/queues", health="paused"), _("Queues"), "paused")]


def _held(found: Above, visit: Visit) -> list[Notice]:
    if not found.types:
        return []
    told = [
        paused_until(name, until, visit.now)
        for name, until in zip(found.types, found.types_until, strict=True)
    ]
    if found.more_types:
        told.append(
            many("%d more job type is paused", "%d more job types are paused", found.more_types)
            % found.more_types
        )
    one = len(found.types) == 1
    to = visit.url(f"/definitions/{found.types[0]}" if one else "/definitions")
    return [
        Notice("warning", "; ".join(told) + ".", to, found.types[0] if one else _("Definitions"), "paused")
    ]


def _deaf(visit: Visit) -> bool:
    """Browsers wait for pings, and this server hears none."""
    live = visit.request.app.state.live
    return visit.asked.backend.settings.notify and bool(live.streams) and not live.listening
