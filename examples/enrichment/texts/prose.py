"""Prose out of plain text and reStructuredText: docstrings, licences, old READMEs, manual pages."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

_UNDERLINE = re.compile(r"^([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_CODE = re.compile(r"^\s*(>>>|--?\w|\$ |\.\. |#!|:[a-z]+:|@|[|+]|def |class |import |from \w+ import )")
_ROLE = re.compile(r":[\w:.+-]+:`~?([^`<]*?)\s*(?:<[^`]*>)?`")
_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`_{1,2}")
_MARKS = re.compile(r"``?|\*\*|\|(?=\w)|(?<=\w)\||(?<=\w)`?_{1,2}(?=[\s.,;:)]|$)|https?://\S+")
_SENTENCE_END = (".", "!", "?", ":", ";", "。", "।", ")", "»", "”", '"')


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of running text, each on one line; code, tables and directives are left out."""
    in_directive = False
    for block in re.split(r"\n\s*\n", text.expandtabs().strip("\n")):
        lines = [line for line in block.splitlines() if not _UNDERLINE.match(line)]
        in_directive = block.startswith("..") or (in_directive and all(line[:2] == "  " for line in lines))
        if in_directive or all(line.startswith("    ") for line in lines) or any(map(_CODE.match, lines)):
            continue
        prose = _plain(" ".join(textwrap.dedent("\n".join(lines)).split()))
        if _reads_like_prose(prose):
            yield prose


def _plain(text: str) -> str:
    text = _LINK.sub(r"\1", _ROLE.sub(r"\1", text))
    return re.sub(r"\s+", " ", _MARKS.sub("", text)).strip(" *-•")


def _reads_like_prose(text: str) -> bool:
    """Sentences are mostly letters and end as sentences do; what is left of a table or a signature is not."""
    if len(text) < 40 or not text.endswith(_SENTENCE_END):
        return False
    letters = sum(character.isalpha() or character.isspace() for character in text)
    return letters / len(text) > 0.85
