"""Elements of SVG and HTML as safe text: every value is escaped, nothing is styled or scripted."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

from markupsafe import Markup, escape

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
_LINK = re.compile(r"(?!//)[/?#][^\\\x00-\x20\x7f-\x9f\u2028\u2029]*")

Value = str | float | None


def element(tag: str, *children: str, cls: str | None = None, **attributes: Value) -> Markup:
    """`<tag …>children</tag>`. Underscores of an attribute's name are hyphens; None: it is left out.

    Raises:
        ValueError: a number that is none, or an attribute that styles or scripts.
    """
    if cls is not None:
        attributes = {"class": cls, **attributes}
    # Plain joins of what is escaped here: a page has thousands of these, and Markup's own format takes ten times as long.
    told = "".join(
        [
            f' {_name(name)}="{_escaped(value) if isinstance(value, str) else _number(value)}"'
            for name, value in attributes.items()
            if value is not None
        ]
    )
    within = "".join([one if isinstance(one, Markup) else _escaped(one) for one in children])
    called = _name(tag)
    return str.__new__(Markup, f"<{called}{told}>{within}</{called}>")


def clean(text: object, most: int = 200) -> str:
    """A text of one line for a label: what cannot be seen is shown as a mark, and no more than so many letters."""
    shown = _HIDDEN.sub("�", str(text).replace("\n", " ").replace("\t", " "))
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def link(href: str | None) -> str | None:
    """An address within this site; None for anything else, as for none."""
    return href if href is not None and len(href) <= 2000 and _LINK.fullmatch(href) else None


def rectangle(x: float, y: float, width: float, height: float, look: str | None = None) -> Markup:
    """One that is filled in this look; None: one that is not seen, for the pointer."""
    place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
    if look is None:
        return Markup(f'<rect {place} fill="none" pointer-events="all"></rect>')
    return Markup(f'<rect class="{_escaped(look)}" {place} fill="currentColor"></rect>')


def row(name: str, href: str | None, cells: Sequence[str]) -> Markup:
    """A row of a table: what it is called, with a link where there is one, and its figures."""
    words, found = _escaped(clean(name)), link(href)
    called = words if found is None else f'<a href="{_escaped(found)}">{words}</a>'
    figures = "".join([f'<td class="num">{_cell(one)}</td>' for one in cells])
    return Markup(f'<tr><th scope="row">{called}</th>{figures}</tr>')


def linked(href: str | None, label: str, *children: Markup) -> Markup:
    """The children within a link, or a group where there is no address. It is not on the way of the Tab key: the table
    beneath has the same link for the keyboard.
    """
    words = _escaped(clean(label))
    found = link(href)
    # As `element` has it, in one go: a page has hundreds of these.
    within = f"<title>{words}</title>{''.join(children)}"
    if found is None:
        return Markup(f'<g data-tip="{words}">{within}</g>')
    where = _escaped(found)
    return Markup(f'<a href="{where}" tabindex="-1" aria-label="{words}" data-tip="{words}">{within}</a>')


@lru_cache(maxsize=500)
def _name(name: str) -> str:
    told = name.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(told) or told.lower() == "style" or told.lower().startswith("on"):
        raise ValueError(f"an element or attribute of a chart cannot be called {told!r}")
    return _CASED.get(told, told)


_CASED = {"viewbox": "viewBox"}


@lru_cache(maxsize=2000, typed=True)
def _escaped(text: str) -> str:
    """Looks and anchors come again and again, labels and addresses at least twice: in the drawing and in its table.
    By type, since what is Markup stays as it is."""
    return str(escape(text))


@lru_cache(maxsize=4000)
def _cell(text: str) -> str:
    return _escaped(clean(text))


@lru_cache(maxsize=4000)
def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"a chart cannot show {value}")
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
