"""The drawings of the tables are those of the schema."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection

from tests.support.erd.drawing import drawing
from tests.support.erd.files import ASSETS, drawings
from tests.support.erd.groups import GROUPS
from tests.support.erd.tables import Column, tables
from tests.support.spawner import ROOT


def test_the_drawings_are_up_to_date(pg: Connection[Any]) -> None:
    made = drawings(pg)
    stale = [file.name for file, text in made.items() if not file.exists() or file.read_text() != text]
    assert stale == [], "run: python -m tests.support.erd"
    assert set(made) == set(ASSETS.glob("tables-*.svg"))


def test_a_table_that_nobody_has_drawn_is_named(pg: Connection[Any]) -> None:
    pg.execute("create table postmill.novelty (id uuid primary key)")
    with pytest.raises(ValueError, match="novelty"):
        drawings(pg)


def test_keys_and_references_are_the_databases(pg: Connection[Any]) -> None:
    found = tables(pg, "postmill")
    trigger = {column.name: column for column in found["trigger"]}
    assert trigger["id"] == Column("id", "uuid", True, None)
    assert trigger["definition_id"].refers == "job_definition"
    two = {"trigger": found["trigger"], "job_definition": found["job_definition"]}
    assert drawing("two", two).count('marker-end="url(#head)"') == 1


def test_every_group_stands_on_the_page() -> None:
    page = (ROOT / "docs/reference/tables.md").read_text(encoding="utf-8")
    assert [name for name in GROUPS if f"(../assets/tables-{name}.svg)" not in page] == []
