"""One text that was found, cut to a size that an item may have."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

LEAST_CHARACTERS = 350
MOST_CHARACTERS = 3_000
"""Bounds of a text. Shorter ones have nothing to summarise, longer ones only cost time."""


@dataclass(frozen=True, slots=True)
class FoundText:
    """`kind` groups the sources (readme, licence, module, manual); `source` names this one for people."""

    kind: str
    source: str
    body: str

    @property
    def fingerprint(self) -> str:
        """Equal for texts that differ only in spaces, case, numbers and copyright lines, as licences do."""
        lines = [line for line in self.body.splitlines() if "copyright" not in line.lower()[:40]]
        words = re.findall(r"[^\W\d_]+", " ".join(lines).lower())
        return hashlib.sha256(" ".join(words).encode()).hexdigest()


def text_of(kind: str, source: str, heading: str, paragraphs: Iterable[str]) -> FoundText | None:
    """Heading and paragraphs as one text, whole paragraphs up to the bound; None if there is too little."""
    parts = [heading] if heading else []
    size = len(heading)
    for paragraph in paragraphs:
        if size + len(paragraph) > MOST_CHARACTERS and size >= LEAST_CHARACTERS:
            break
        parts.append(paragraph[:MOST_CHARACTERS])
        size += len(paragraph)
    if size < LEAST_CHARACTERS:
        return None
    # NUL has no place in PostgreSQL's text, and lone surrogates have none in UTF-8.
    body = "\n\n".join(parts).replace("\0", "").encode("utf-8", "replace").decode()
    return FoundText(kind, source, body)
