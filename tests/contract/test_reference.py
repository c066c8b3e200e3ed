"""The reference says what the code says: committed pages are what would be generated, and tables are complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection

import postmill
from postmill.domain.settings import Settings
from postmill.domain.settings_keys import keys
from tests.support.reference import life, pages
from tests.support.reference.names import GROUPS
from tests.support.reference.sql import PUBLIC

ROOT = Path(__file__).parents[2]
SQL_PAGE = ROOT / "docs/reference/sql.md"
AGAIN = "out of date; run: python -m tests.support.reference"


@pytest.mark.parametrize("file", pages.generated(), ids=lambda file: file.name)
def test_a_generated_page_is_as_it_would_be_generated(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == pages.written(file), f"{file.name} is {AGAIN}"


def test_every_generated_part_stands_on_a_page() -> None:
    assert pages.used() == set(pages.PARTS)


def test_every_public_name_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/python-api.md").read_text(encoding="utf-8")
    assert [name for name in postmill.__all__ if f"\n### {name}\n" not in page] == []
    assert [title for title in GROUPS if f"\n## {title}\n" not in page] == []


def test_every_setting_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    assert [key.path for key in keys(Settings) if f"| `{key.path}` |" not in page] == []


def test_the_drawing_has_every_transition() -> None:
    drawing = life.drawing()
    for (start, end), verbs in life.edges().items():
        assert f">{', '.join(dict.fromkeys(verbs))}</text>" in drawing, (start, end)
    assert drawing.count("<path d=") - 1 - 3 == len(life.edges())  # the arrow's head, and three entries


def described_columns(view: str) -> set[str]:
    """The columns that the page describes for a view."""
    text = SQL_PAGE.read_text(encoding="utf-8")
    section = text.partition(f"### postmill.{view}\n")[2].partition("\n## ")[0].partition("\n### ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


VIEWS = (
    *("jobs", "job_attempts", "job_workers", "job_definitions", "job_triggers", "schedule_ticks", "events"),
    *("event_deliveries", "webhooks", "artifacts"),
)


@pytest.mark.parametrize("view", VIEWS)
def test_every_column_of_a_view_is_described(lasting: Connection[Any], view: str) -> None:
    rows = lasting.execute(
        "select column_name::text from information_schema.columns where table_schema = 'postmill' and table_name = %s",
        [view],
    ).fetchall()
    assert described_columns(view) == {name for (name,) in rows}


def test_what_an_application_may_call_is_described(pg: Connection[Any]) -> None:
    pg.execute("create role described")
    try:
        pg.execute("select postmill.grant_application('described')")
        rows = pg.execute(
            "select distinct p.proname::text from pg_proc p where p.pronamespace = 'postmill'::regnamespace"
            " and has_function_privilege('described', p.oid, 'execute')"
        ).fetchall()
        # What the clients call.
        inner = {
            "enqueue_one",
            "enqueue_keyed",
            "enqueue_quick",
            "publish_event",
            "deliver_events",
            "read_enqueue_rules",
            "find_place",
            *("door_cancel_workflow", "door_retry_workflow", "door_release_steps", "read_job_type_names"),
            *("read_workflow", "read_workflows", "read_workflow_steps", "read_workflow_edges"),
            *("begin_artifact", "keep_artifact", "read_artifact", "read_artifacts", "door_delete_artifact"),
        }
        assert {name for (name,) in rows} - inner <= set(PUBLIC)
    finally:
        pg.execute("drop owned by described")
        pg.execute("drop role described")
