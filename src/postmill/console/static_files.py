"""What browsers load besides pages: one style sheet, one script, one sheet of icons, under names that change with them.

The sources are several small files each; they are joined here, once, in a fixed order. A first view is then the page and
three requests, and none of the three is ever asked for again.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.responses import Response

STATIC = "/static/"
"""How the paths of all of them begin, below our root. They need no credentials: the login looks like the other pages."""

CSS = ("tokens", "layout", "controls", "parts")
JS = (
    "words",
    "policy",
    "morph",
    "rel-time",
    "copy-button",
    "bus",
    "live-region",
    "live-control",
    "bulk-bar",
    "query-box",
    "confirm-count",
    "chart-tip",
    "chart-zoom",
    "key-map",
)
"""One module in the order of its parts: nothing is used above the part that declares it, but inside of functions."""

_JOINED = {
    "console.css": ("text/css; charset=utf-8", tuple(f"css/{name}.css" for name in CSS)),
    "console.js": ("text/javascript; charset=utf-8", tuple(f"js/{name}.js" for name in JS)),
    "icons.svg": ("image/svg+xml; charset=utf-8", ("icons.svg",)),
    "icon.svg": ("image/svg+xml; charset=utf-8", ("icon.svg",)),
}

_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    # A sheet of icons that is opened as a page is still a document of ours.
    "Content-Security-Policy": "default-src 'none'; style-src 'none'; frame-ancestors 'none'",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One joined file: `path` below the root, its bytes, and the same compressed."""

    path: str
    media_type: str
    content: bytes
    compressed: bytes


@cache
def static_files() -> dict[str, StaticFile]:
    """All of them by their names: `console.css`, `console.js`, `icons.svg`, and the site's own `icon.svg`."""
    root = files(__package__) / "static"
    found = {}
    for name, (media_type, parts) in _JOINED.items():
        content = b"\n".join((root / part).read_bytes() for part in parts)
        mark = sha256(content).hexdigest()[:16]
        found[name] = StaticFile(
            f"{STATIC}{mark}/{name}", media_type, content, gzip.compress(content, 9, mtime=0)
        )
    return found


def asset(name: str) -> str:
    """The path of a file below the root: `asset("console.css")` is `/static/<hash>/console.css`.

    Raises:
        KeyError: there is no such file.
    """
    return static_files()[name].path


router = APIRouter()


@router.api_route(STATIC + "{mark}/{name}", methods=["GET", "HEAD"], include_in_schema=False)
async def send_static_file(request: Request, mark: str, name: str) -> Response:
    """A file under its present name. A page of an older version asks for an older one: 404, it reloads itself."""
    file = static_files().get(name)
    if file is None or file.path != f"{STATIC}{mark}/{name}":
        return Response(status_code=404, headers={"Cache-Control": "no-store"})
    headers = dict(_HEADERS)
    content = file.content
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"], content = "gzip", file.compressed
    return Response(content, headers=headers, media_type=file.media_type)
