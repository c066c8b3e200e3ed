"""Which pages have generated parts, and the pages as they should be.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`; everything else on a page is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tests.support.reference import (
    api_client,
    cli,
    events,
    exits,
    frameworks,
    homepage_flows,
    http,
    life,
    metrics,
    modules,
    names,
    query,
    sequence,
    settings,
    slots,
    sql,
)

DOCS = Path(__file__).parents[3] / "docs"

PARTS: Mapping[str, Callable[[], str]] = {
    "commands": cli.commands,
    "shared options": cli.shared,
    "exit codes": exits.table,
    "settings": settings.tables,
    "names": names.sections,
    "errors": names.errors,
    "modules": modules.sections,
    "frameworks": frameworks.contrib,
    "testing": frameworks.testing,
    "options of job types": names.job_type_options,
    "options of jobs": names.job_options,
    "functions": sql.functions,
    "transitions": life.table,
    "metrics": metrics.tables,
    "events": events.table,
    "query": query.terms,
    "operations": http.operations,
    "api client": api_client.section,
    "api client errors": api_client.errors,
    "problems": http.problems,
}

FILES: Mapping[str, Callable[[], str]] = {
    "assets/life-cycle.svg": life.drawing,
    "assets/slots.svg": slots.drawing,
    "reference/openapi.json": http.committed,
    **{
        f"assets/flow-{name}.svg": partial(sequence.drawing, flow)
        for name, flow in homepage_flows.FLOWS.items()
    },
}

_PART = re.compile(r"(<!-- generated: (?P<name>[\w ]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def generated() -> list[Path]:
    """Every file with something generated in it."""
    pages = [page for page in sorted(DOCS.rglob("*.md")) if _PART.search(page.read_text(encoding="utf-8"))]
    return [*pages, *(DOCS / name for name in FILES)]


def written(file: Path) -> str:
    """The text that one of them should have."""
    draw = FILES.get(file.relative_to(DOCS).as_posix())
    return _PART.sub(_filled, file.read_text(encoding="utf-8")) if draw is None else draw()


def used() -> set[str]:
    """The parts that stand on some page."""
    texts = [page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")]
    return {found["name"] for text in texts for found in _PART.finditer(text)}


def _filled(found: re.Match[str]) -> str:
    return f"{found[1]}\n{PARTS[found['name']]().strip()}\n\n"
