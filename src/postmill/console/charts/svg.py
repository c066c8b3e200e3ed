"""Elements of SVG and HTML as safe text: every value is escaped, nothing is styled or scripted."""

from __future__ import annotations

import math
import re
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


def linked(href: str | None, label: str, *children: Markup) -> Markup:
    """The children within a link, or a group where there is no address. It is not on the way of the Tab key: the table
    beneath has the same link for the keyboard.
    """
    words = clean(label)
    title = element("title", words)
    found = link(href)
    if found is None:
        return element("g", title, *children, data_tip=words)
    return element("a", title, *children, href=found, tabindex=-1, aria_label=words, data_tip=words)


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
def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"a chart cannot show {value}")
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
