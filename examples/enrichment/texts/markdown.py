"""The sections of a Markdown document as prose: what a reader sees, without code, tables and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(slots=True)
class Section:
    """A heading and the paragraphs under it."""

    heading: str
    paragraphs: list[str] = field(default_factory=list)


def sections(text: str) -> Iterator[Section]:
    """Each heading with its prose, in order; what stands before the first heading has an empty one."""
    section = Section("")
    depth_of_table = 0
    in_heading = False
    for token in _PARSER.parse(text):
        if token.type == "heading_open":
            yield section
            section, in_heading = Section(""), True
        elif token.type == "heading_close":
            in_heading = False
        elif token.type in {"table_open", "table_close"}:
            depth_of_table += token.nesting
        elif token.type == "inline" and not depth_of_table:
            words = _words(token)
            if in_heading:
                section.heading = words
            elif len(words) >= 40:
                section.paragraphs.append(words)
    yield section


def _words(inline: Token) -> str:
    parts = []
    for token in inline.children or ():
        if token.type in {"text", "code_inline"}:
            parts.append(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
    return re.sub(r"\s+", " ", re.sub(r"https?://\S+", "", "".join(parts))).strip()
