"""A whole chart: the drawing with its message in words, and its table."""

from __future__ import annotations

import re

from markupsafe import Markup

from postmill.console.charts.svg import clean, element

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def whole(
    id: str, title: str, message: str, drawing: Markup, details: Markup, *, width: int, height: int
) -> Markup:
    """`<figure class="chart">`: what it shows is its title, what it says its description and its caption.

    Raises:
        ValueError: an id that is none.
    """
    if not _ID.fullmatch(id):
        raise ValueError(f"the id of a chart is a letter, then letters, digits, - and _, not {id!r}")
    caption = element("figcaption", clean(message, 500), cls="muted")
    return element(
        "figure",
        svg(title, message, drawing, width=width, height=height),
        caption,
        details,
        id=id,
        cls="chart",
    )


def svg(title: str, message: str, drawing: Markup, *, width: int, height: int) -> Markup:
    """The drawing alone. It is one image, but where there are links in it: what is in an image cannot be reached."""
    return element(
        "svg",
        element("title", clean(title)),
        element("desc", clean(message, 500)),
        drawing,
        xmlns="http://www.w3.org/2000/svg",
        role="group" if "<a " in drawing else "img",
        viewbox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )
