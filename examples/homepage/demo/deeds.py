"""What each job type did for each portal, in numbers of its own: a statement for each in sql/did/."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from psycopg import Connection

from examples.homepage.demo.data import rows
from examples.homepage.job_types import JobType

PAGE = re.compile(r"/good-sites/([0-9a-f-]{36})</loc>")
FILE = re.compile(r"sites-[0-9a-f]{32}\.xml\.gz")


def deed(conn: Connection[Any], kind: JobType, portal: str, since: datetime, sitemaps: Path) -> str:
    """In words, as `12 items, 3 feeds`."""
    values = {"portal": portal, "since": since, "listed": _listed(sitemaps)}
    found = rows(conn, f"did/{kind.value.lower()}", **values)
    return (
        ", ".join(_counted(number or 0, what) for row in found for what, number in row.items()) or "nothing"
    )


def deeds(
    conn: Connection[Any], portals: list[str], since: datetime, told: Mapping[str, str]
) -> dict[JobType, list[str]]:
    """Of every type, a text for each portal. `told` is where folders are, by variable."""
    sitemaps = Path(told["SITEMAP_FOLDER"])
    return {kind: [deed(conn, kind, portal, since, sitemaps) for portal in portals] for kind in JobType}


def _counted(number: int, what: str) -> str:
    """`what` is a word for many."""
    first, space, rest = what.partition(" ")
    return f"{number:,} {first.removesuffix('s') if number == 1 else first}{space}{rest}"


def _listed(folder: Path) -> list[str]:
    """The ids of sites whose pages the sitemaps list, as a search engine would find them."""
    index = folder / "sitemap.xml"
    if not index.exists():
        return []
    files = FILE.findall(index.read_text(encoding="utf-8"))
    pages = "".join(gzip.decompress((folder / file).read_bytes()).decode() for file in files)
    return PAGE.findall(pages)
