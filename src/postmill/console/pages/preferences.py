"""What somebody chooses for this browser."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import RedirectResponse, Response

from postmill.console.frame import preferences
from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit

router = Pages()


@router.act("/preferences", None, viewing=True)
async def choose(visit: Visit) -> Response:
    """Theme, clock, keys and live updates; what the form does not name stays. Back to where it came from."""
    form, old = visit.form, visit.prefers
    interval = form.one_of("interval", map(str, preferences.INTERVALS), None)
    chosen = replace(
        old,
        theme=form.one_of("theme", preferences.THEMES, old.theme),
        clock=form.one_of("clock", preferences.CLOCKS, old.clock),
        keys=form.one_of("keys", ("on", "off"), "on" if old.keys else "off") == "on",
        live=form.one_of("live", ("on", "off"), "on" if old.live else "off") == "on",
        interval=old.interval if interval is None else int(interval),
    )
    answer = RedirectResponse(visit.back(), 303)
    preferences.write(answer, visit.request, chosen)
    return answer
