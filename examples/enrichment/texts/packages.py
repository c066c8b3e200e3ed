"""What the installed packages say about themselves: their descriptions, by section, and their licences."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution, distributions

from examples.enrichment.texts.found import FoundText, text_of
from examples.enrichment.texts.markdown import sections
from examples.enrichment.texts.prose import paragraphs

_LICENCE_NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE")
_MOST_BYTES = 200_000
_MOST_SECTIONS = 6


def readmes() -> Iterator[FoundText]:
    """Up to six sections of each package's long description."""
    for package in _installed():
        description = package.metadata["Description"] or ""
        kind = package.metadata["Description-Content-Type"] or ""
        found = (
            _by_sections(package.name, description[:_MOST_BYTES])
            if "markdown" in kind
            else _whole(package.name, description[:_MOST_BYTES])
        )
        for _, text in zip(range(_MOST_SECTIONS), found, strict=False):
            yield text


def licences() -> Iterator[FoundText]:
    """The licence files of each package."""
    for package in _installed():
        for file in package.files or ():
            if not file.name.upper().startswith(_LICENCE_NAMES) or file.suffix in {".py", ".pyc"}:
                continue
            path = file.locate()
            try:
                with open(str(path), encoding="utf-8", errors="replace") as stream:
                    content = stream.read(_MOST_BYTES)
            except OSError:
                continue  # listed, but not installed: nothing to read
            text = text_of("licence", f"{package.name}: {file.name}", "", paragraphs(content))
            if text is not None:
                yield text


def _installed() -> list[Distribution]:
    named = {package.name.lower(): package for package in distributions() if package.name}
    return [named[name] for name in sorted(named)]


def _by_sections(name: str, description: str) -> Iterator[FoundText]:
    for section in sections(description):
        heading = section.heading.strip(" #:") or name
        title = heading if name.lower() in heading.lower() else f"{name}: {heading}"
        text = text_of("readme", f"{name}: {section.heading or 'README'}", title, section.paragraphs)
        if text is not None:
            yield text


def _whole(name: str, description: str) -> Iterator[FoundText]:
    text = text_of("readme", f"{name}: README", name, paragraphs(description))
    if text is not None:
        yield text
