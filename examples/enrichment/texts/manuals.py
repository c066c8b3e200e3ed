"""Manual pages in other languages than English, where the machine has them (a slim container has none)."""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from examples.enrichment.texts.found import FoundText, text_of
from examples.enrichment.texts.prose import paragraphs

ROOT = Path("/usr/share/man")
_MOST_PER_LANGUAGE = 3
_MOST_BYTES = 60_000
# Requests of the man macros that begin a new paragraph, and those whose arguments are words of the text.
_BREAKS = re.compile(r"^\.\s*(SH|SS|PP|P|LP|TP|IP|RS|RE|sp|br|TQ|HP)\b")
_WORDS = re.compile(r"^\.\s*(?:B|I|BR|BI|IR|IB|RB|RI|SM|SB)\s+(.*)$")
_FONT = re.compile(r"\\f(?:\[[^\]]*\]|\(..|.)|\\[&/,|^]|\\s[+-]?\d")
_NAMED = {
    "\\-": "-",
    "\\*(Aq": "'",
    "\\(aq": "'",
    "\\(cq": "’",
    "\\(oq": "‘",
    "\\(lq": "“",
    "\\(rq": "”",
    "\\~": " ",
}
_NAMED |= {"\\(ss": "ß", "\\(Fo": "«", "\\(Fc": "»", "\\(bq": "„", "\\(Bq": "„", "\\e": "\\"}
_ACCENT = re.compile(r"\\\(([:'`^~,])([A-Za-z])")
_ACCENTS = {":": "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", ",": "\u0327"}


def translated_manuals(root: Path = ROOT) -> Iterator[FoundText]:
    """Up to three pages of each language."""
    for folder in sorted(root.glob("[a-z][a-z]")) + sorted(root.glob("[a-z][a-z]_[A-Z][A-Z]")):
        taken = 0
        for page in sorted(folder.glob("man[178]/*.gz")):
            text = _read(page, folder.name)
            if text is not None:
                yield text
                taken += 1
            if taken == _MOST_PER_LANGUAGE:
                break


def _read(page: Path, language: str) -> FoundText | None:
    try:
        with gzip.open(page) as stream:
            source = stream.read(_MOST_BYTES).decode("utf-8", "replace")
    except (OSError, EOFError):
        return None  # a dangling link or a broken file
    name = page.name.removesuffix(".gz")
    return text_of("manual", f"man {name} ({language})", "", paragraphs(_unmark(source)))


def _unmark(source: str) -> str:
    """The words of a page in roff; what is marked up in another way than by the man macros is dropped."""
    lines: list[str] = []
    for line in source.splitlines():
        if _BREAKS.match(line):
            lines.append("")
        elif words := _WORDS.match(line):
            lines.append(words.group(1).replace('"', ""))
        elif not line.startswith((".", "'")):
            lines.append(line.strip())
    text = _FONT.sub("", "\n".join(lines))
    text = _ACCENT.sub(lambda m: unicodedata.normalize("NFC", m[2] + _ACCENTS[m[1]]), text)
    for mark, character in _NAMED.items():
        text = text.replace(mark, character)
    return re.sub(r"\\\(..|\\\[[^\]]*\]", "", text)
