"""Templates, and pages made of them."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from jinja2.runtime import Context
from starlette.responses import HTMLResponse, Response

from postmill.console.frame import flash, headers, preferences
from postmill.console.frame.known import Known, topics_of
from postmill.console.frame.nav import ENTRIES
from postmill.console.frame.pauses import paused_until
from postmill.console.frame.sharing import Shared, SharedPages
from postmill.console.frame.shown import FILTERS, when
from postmill.console.frame.translated import Translated
from postmill.console.frame.words import catalogue
from postmill.console.static_files import asset
from postmill.version import VERSION

if TYPE_CHECKING:
    from postmill.console.frame.visit import Visit

PART = "part_"
"""How the names of blocks begin that are live parts."""


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Escapes everything, refuses what is not there, and takes its words from the catalogue."""
    made = Environment(
        loader=PackageLoader("postmill.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=["jinja2.ext.i18n", Translated],
    )
    made.install_gettext_translations(catalogue(), newstyle=True)  # type: ignore[attr-defined]
    made.filters.update(FILTERS)
    made.globals.update(version=VERSION, clocks=preferences.CLOCKS, themes=preferences.THEMES,
                        intervals=preferences.INTERVALS)  # fmt: skip
    return made


def page(visit: Visit, template: str, status: int, context: dict[str, Any]) -> Response:
    """A page of somebody who is logged in, or the live part of it that is asked for.

    `context` may have `secret=True`: what it shows must not be kept by the browser (payloads, keys).
    """
    said = None if visit.fragment else flash.take(visit.request)
    secret = bool(context.pop("secret", False))
    shown = environment().get_template(template)
    values = shown.new_context({**common(visit), "said": said, **context})
    if visit.fragment is not None:
        if status == 200 and not (secret or visit.cut):
            read_for = visit.fragment if visit.reads_by_part else None
            _shared(visit).keep(visit.sharing, Shared(visit.began, shown, values, read_for))
        return _part(visit, shown, values, visit.fragment, visit.began, status, secret)
    text = "".join(shown.root_render_func(values))
    answer = _unless_known(visit, HTMLResponse(text, status), said is None and not secret)
    if said is not None:
        flash.drop(answer, visit.request)
    return headers.secure(answer, secret=secret)


def remembered(visit: Visit) -> Response | None:
    """The part that is asked for, of what was read a moment ago; None: it must be read."""
    part = visit.fragment
    found = None if part is None else _shared(visit).find(visit.sharing, part)
    return None if found is None else _part(visit, found.template, found.values, part or "", found.began)


def forget(visit: Visit) -> None:
    """Something was done: what was read before it is shown to nobody any more."""
    state = visit.request.app.state
    for one in (state.readings, state.shared, state.known):
        one.over()


def _part(
    visit: Visit,
    shown: Template,
    values: Context,
    part: str,
    began: float,
    status: int = 200,
    secret: bool = False,
) -> Response:
    block = shown.blocks.get(PART + part) or _inherited(shown, part)
    made = HTMLResponse("", 404) if block is None else HTMLResponse("".join(block(values)), status)
    answer = headers.secure(_unless_known(visit, made, not secret), secret=secret)
    tag, topics = answer.headers.get("etag"), topics_of(shown).get(part)
    if tag is not None and topics and not visit.cut:
        known: Known = visit.request.app.state.known
        known.keep(visit.request, tag, topics, visit.scope.topic, began)
    return answer


def _shared(visit: Visit) -> SharedPages:
    shared: SharedPages = visit.request.app.state.shared
    return shared


def bare(template: str, status: int, context: dict[str, Any]) -> Response:
    """A page for somebody who may be nobody."""
    text = environment().get_template(template).render(context)
    return headers.secure(HTMLResponse(text, status), secret=True)


def common(visit: Visit) -> dict[str, Any]:
    """What every template of a page knows."""
    actions = visit.asked.principal.may
    entries = [one for one in ENTRIES if (one.ops if visit.scope.ops else one.tenant) and actions(one.action)]
    return {
        "visit": visit,
        "scope": visit.scope,
        "principal": visit.asked.principal,
        "settings": visit.asked.backend.settings,
        "prefers": visit.prefers,
        "now": visit.now,
        "entries": entries,
        "url": visit.url,
        "root": visit.root,
        "same": visit.same,
        "may": visit.may,
        "csrf": visit.csrf,
        "asset": lambda name: visit.root(asset(name)),
        "when": lambda moment, **how: when(moment, visit.now, **how),
        "paused": lambda name, until: paused_until(name, until, visit.now),
    }


def _inherited(template: Any, part: str) -> Any:
    """A part of the frame that all pages share."""
    return template.environment.get_template("base.html").blocks.get(PART + part)


def _unless_known(visit: Visit, answer: Response, keepable: bool) -> Response:
    """304 where the browser has the very same."""
    if not keepable or answer.status_code != 200:
        return answer
    tag = f'"{sha256(bytes(answer.body)).hexdigest()[:24]}"'
    if tag in visit.request.headers.get("if-none-match", ""):
        answer = Response(status_code=304)
    answer.headers["ETag"] = tag
    return answer
