"""The text of a page of HTML."""

from __future__ import annotations

import re

from lxml import etree

_UNSEEN = {"script", "style", "head", "title", "template"}
_BLOCKS = {"p", "div", "li", "tr", "table", "blockquote", "h1", "h2", "h3", "h4", "hr", "pre", "ul", "ol"}


def plain(page: str) -> str:
    """What a reader sees of a page, as lines; empty for what is no page."""
    # By events, and so without recursion: pages nest as deep as somebody likes.
    parser = etree.HTMLPullParser(
        events=("start", "end"), no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        parser.feed(page.replace("\0", ""))
        parser.close()
    except (etree.XMLSyntaxError, ValueError):
        return ""
    return _lines(_pieces(parser))


def _pieces(parser: etree.HTMLPullParser) -> list[str]:
    found: list[str] = []
    unseen = 0
    for event, element in parser.read_events():
        tag = element.tag
        unseen += (event == "start") - (event == "end") if tag in _UNSEEN else 0
        if tag in _BLOCKS or (tag == "br" and event == "start"):
            found.append("\n")
        elif tag in ("td", "th"):
            found.append(" ")
        text = element.text if event == "start" else element.tail
        if text and not unseen:
            found.append(re.sub(r"\s+", " ", text))
    return found


def _lines(pieces: list[str]) -> str:
    lines = [" ".join(line.split()) for line in "".join(pieces).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
