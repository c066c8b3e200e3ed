"""Templates, and pages made of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from postmill.console.frame import flash, headers, preferences
from postmill.console.frame.known import Known
from postmill.console.frame.nav import ENTRIES
from postmill.console.frame.parts import Part, Parts, document, held
from postmill.console.frame.pauses import paused_until
from postmill.console.frame.sharing import SharedParts
from postmill.console.frame.shown import FILTERS, when
from postmill.console.frame.translated import Translated
from postmill.console.frame.words import catalogue
from postmill.console.static_files import asset
from postmill.version import VERSION

if TYPE_CHECKING:
    from postmill.console.frame.visit import Visit


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
    """A page of somebody who is logged in, or the live parts of it that are asked for.

    `context` may have `secret=True`: what it shows must not be kept by the browser (payloads, keys).
    """
    secret = bool(context.pop("secret", False))
    shown = environment().get_template(template)
    if visit.parts:
        if status != 200:
            return Response(status_code=status)
        values = shown.new_context({**common(visit), "said": None, **context})
        return Parts(shown, values, visit.parts, visit.began, secret, not visit.cut)
    said = flash.take(visit.request)
    text = "".join(shown.root_render_func(shown.new_context({**common(visit), "said": said, **context})))
    answer = _unless_known(visit, HTMLResponse(text, status), said is None and not secret)
    if said is not None:
        flash.drop(answer, visit.request)
    return headers.secure(answer, secret=secret)


async def parts(visit: Visit, handler: Callable[[Visit], Awaitable[Response]]) -> Response:
    """The live parts that are asked for. The page reads for those alone of which it is not known that the browser has them."""
    state, names = visit.request.app.state, visit.parts
    known: Known = state.known
    shared: SharedParts = state.shared
    found = {name: Part("", tag) for name, tag in known.quiet(visit.request).items()}
    visit.parts = tuple(name for name in names if name not in found)
    if visit.parts:
        answer = await shared.read((visit.sharing, visit.parts), lambda: handler(visit))
        if not isinstance(answer, Parts):
            return answer
        known.keep(visit.request, answer, visit.scope.topic)
        found |= answer.parts
    return document({name: found[name] for name in names}, held(visit.request))


def forget(visit: Visit) -> None:
    """Something was done: what was read before it is shown to nobody any more."""
    state = visit.request.app.state
    for one in (state.readings, state.shared, state.known):
        one.over()


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


def _unless_known(visit: Visit, answer: Response, keepable: bool) -> Response:
    """304 where the browser has the very same."""
    if not keepable or answer.status_code != 200:
        return answer
    tag = f'"{sha256(bytes(answer.body)).hexdigest()[:24]}"'
    if tag in visit.request.headers.get("if-none-match", ""):
        answer = Response(status_code=304)
    answer.headers["ETag"] = tag
    return answer
