"""The documentation is a contract: every page is followed from top to bottom, in a folder and a database of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from postmill.local.server import LocalServer
from tests.support.databases import fresh_database
from tests.support.docs.blocks import FOLLOWED_ELSEWHERE, RUN, blocks_of, database_of
from tests.support.docs.page import Page
from tests.support.ports import unused_port
from tests.support.spawner import ROOT, spawner


def pages() -> list[Path]:
    """Every page with a block that is run."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    named = {path.relative_to(ROOT).as_posix(): path for path in found}
    return [
        path
        for name, path in named.items()
        if name not in FOLLOWED_ELSEWHERE and any(block.language in RUN for block in blocks_of(path))
    ]


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_holds_what_it_says(path: Path, cluster: LocalServer, template: str, tmp_path: Path) -> None:
    folder = tmp_path / "a reader"
    folder.mkdir()
    ports = {"9100": unused_port()}
    wanted = database_of(path)
    if wanted == "none":
        Page(path, spawner(), folder, None, ports).follow()
        return
    with fresh_database(cluster, {"migrated": template, "empty": "template0"}[wanted]) as database:
        Page(path, spawner(), folder, database.dsn, ports).follow()
