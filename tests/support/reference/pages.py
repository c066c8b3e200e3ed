"""Which pages have generated parts, and the pages as they should be.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`; everything else on a page is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.support.reference import api_client, cli, events, exits, http, life, metrics, names, settings, sql

DOCS = Path(__file__).parents[3] / "docs"

PARTS: Mapping[str, Callable[[], str]] = {
    "commands": cli.commands,
    "shared options": cli.shared,
    "exit codes": exits.table,
    "settings": settings.tables,
    "settings for later": settings.later,
    "names": names.sections,
    "errors": names.errors,
    "options of job types": names.job_type_options,
    "options of jobs": names.job_options,
    "functions": sql.functions,
    "transitions": life.table,
    "metrics": metrics.tables,
    "events": events.table,
    "operations": http.operations,
    "api client": api_client.section,
    "api client errors": api_client.errors,
    "problems": http.problems,
}

FILES: Mapping[str, Callable[[], str]] = {
    "assets/life-cycle.svg": life.drawing,
    "reference/openapi.json": http.committed,
}

_PART = re.compile(r"(<!-- generated: (?P<name>[\w ]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def generated() -> dict[Path, str]:
    """Every file with something generated in it, with the text that it should have."""
    made = {}
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if _PART.search(text):
            made[page] = _PART.sub(_filled, text)
    for name, draw in FILES.items():
        made[DOCS / name] = draw()
    return made


def used() -> set[str]:
    """The parts that stand on some page."""
    texts = [page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")]
    return {found["name"] for text in texts for found in _PART.finditer(text)}


def _filled(found: re.Match[str]) -> str:
    return f"{found[1]}\n{PARTS[found['name']]().strip()}\n\n"
