"""Sections of the examples' READMEs, which pages of the documentation show: they are written once.

A hook of MkDocs (see mkdocs.yml). `<!-- from: examples/NAME/README.md, HEADING -->` on a page becomes what stands below that
heading, up to the next. It imports nothing of ours: MkDocs loads it by its path.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]

_PART = re.compile(r"^<!-- from: (?P<file>[\w/.-]+), (?P<heading>[^\n]+?) -->$", re.MULTILINE)
_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<target>(?!https?:)[^)\s]+)\)")
_DOCS = "../../docs/"


def section(text: str, heading: str) -> str:
    """What stands below a heading of the second level. Raises ValueError where there is none of this name."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"no heading {heading!r}")
    return found[1].strip()


def parts(page: str) -> list[tuple[str, str]]:
    """File and heading of each part that a page takes from elsewhere."""
    return [(found["file"], found["heading"]) for found in _PART.finditer(page)]


def filled(page: str) -> str:
    """A page of docs/examples with its parts in it. Raises ValueError or OSError where one of them is not there."""
    return _PART.sub(lambda found: _taken(found["file"], found["heading"]), page)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs for each page."""
    return filled(markdown)


def _taken(file: str, heading: str) -> str:
    """Links into the documentation lead there from the page, too; others lead out of the site, and become text."""
    text = section((ROOT / file).read_text(encoding="utf-8"), heading)
    return _LINK.sub(_link, text)


def _link(found: re.Match[str]) -> str:
    text, target = found["text"], found["target"]
    return f"[{text}](../{target.removeprefix(_DOCS)})" if target.startswith(_DOCS) else text
