"""Live parts of a page: asked for by their names, as many at once as a tab wants, and answered as one document.

`?_part=verdict&_part=changes` asks, and what else only a live part asks with begins with `_`, too. The answer has a template
for each part that is another one than the browser has (`If-None-Match`), and an entity tag of which each part has its own
piece, in the order in which they were asked for: `"<verdict>.<changes>"`. All as before: 304. A part that this page has no
longer says so; parts with secrets have no tags, and are told each time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from jinja2 import Template
from jinja2.runtime import Context
from markupsafe import escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from postmill.console.frame import headers

ASKS = "_"
"""How parameters begin that only live parts ask with: no link of a page carries them on."""

_PART = "_part="

BLOCK = "part_"
"""How the names of blocks begin that are live parts."""

_REGION = re.compile(r'data-live="(\w+)"[^>]* data-topic="([a-z ]+)"')

_SINCE = re.compile(r'( data-rel-time="\w*">)[^<]*')


@dataclass(frozen=True, slots=True)
class Part:
    """One of them as it is now. `tag`: what its text is known by; empty: nobody may keep it. `text` None: there is none."""

    text: str | None
    tag: str = ""


class Parts(Response):
    """What a page answers where it is asked for parts; `document` makes of it what goes out.

    Attributes:
        parts: those that were asked for, by their names.
        topics: what each is about, as the page's template tells the browser.
        began: when their reading did, on the monotonic clock.
        secret: whether no browser may keep them, and nobody else be shown them.
        whole: whether nothing was left out.
    """

    def __init__(
        self,
        template: Template,
        values: Context,
        names: tuple[str, ...],
        began: float,
        secret: bool,
        whole: bool,
    ) -> None:
        super().__init__()
        self.parts = {name: _made(template, values, name, secret) for name in names}
        self.topics = topics_of(template)
        self.began = began
        self.secret = secret
        self.whole = whole


def asked_for(request: Request) -> tuple[str, ...]:
    """The names of the parts that a request is for; none: it is for the page."""
    return tuple(
        dict.fromkeys(pair.removeprefix(_PART) for pair in _pairs(request) if pair.startswith(_PART))
    )


def asked_with(request: Request) -> tuple[str, ...]:
    """What else its query has."""
    return tuple(pair for pair in _pairs(request) if not pair.startswith(_PART))


def _pairs(request: Request) -> list[str]:
    return str(request.scope["query_string"], "latin-1").split("&")


def held(request: Request) -> dict[str, str]:
    """The tags that the browser has, by the parts that it asks for."""
    names, given = asked_for(request), request.headers.get("if-none-match", "")
    tags = given.removeprefix("W/").strip('"').split(".")
    return (
        {name: tag for name, tag in zip(names, tags, strict=True) if tag} if len(tags) == len(names) else {}
    )


def document(parts: Mapping[str, Part], has: Mapping[str, str]) -> Response:
    """What goes out to a browser that has these tags."""
    if all(part.text is None and not part.tag for part in parts.values()):
        return headers.secure(Response(status_code=404))
    new = [(name, part) for name, part in parts.items() if not part.tag or part.tag != has.get(name)]
    answer = Response(status_code=304)
    if new:
        answer = HTMLResponse("".join(_template(name, part.text) for name, part in new))
    tags = [part.tag for part in parts.values()]
    if any(tags):
        answer.headers["ETag"] = f'"{".".join(tags)}"'
    # What it says depends on what was sent: nobody may take it for the answer to another one.
    return headers.secure(answer, secret=True)


def _template(name: str, text: str | None) -> str:
    mark = f'data-part="{escape(name)}"'
    return (
        f"<template {mark} data-over></template>" if text is None else f"<template {mark}>{text}</template>"
    )


@lru_cache(maxsize=200)
def topics_of(template: Template) -> dict[str, tuple[str, ...]]:
    """The topics of each live part of a page, as its template tells the browser."""
    loader = template.environment.loader
    assert loader is not None
    assert template.name is not None
    source, _, _ = loader.get_source(template.environment, template.name)
    return {part: tuple(topics.split()) for part, topics in _REGION.findall(source)}


def _made(template: Template, values: Context, name: str, secret: bool) -> Part:
    block = template.blocks.get(BLOCK + name)
    if block is None:
        return Part(None)
    text = "".join(block(values))
    if secret:
        return Part(text)
    # How long ago it was goes on by itself in the browser (rel-time.js): that alone is nothing new.
    said = name + _SINCE.sub(r"\1", text)
    return Part(text, sha256(said.encode()).hexdigest()[:24])
