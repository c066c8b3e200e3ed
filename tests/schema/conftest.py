"""Migrations of a test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from postmill.schema.migration import Migration, read_migrations

FIRST = """-- postmill: safe
create function {schema}.now() returns timestamptz language sql volatile as 'select clock_timestamp()';
create table {schema}.step (n integer primary key);
insert into {schema}.step values (1);
"""

Write = Callable[..., tuple[Migration, ...]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write migrations 0001, 0002 … with these texts into a folder and read them; the first is given."""

    def write(*texts: str) -> tuple[Migration, ...]:
        folder = tmp_path / "migrations"
        folder.mkdir(exist_ok=True)
        for number, text in enumerate([FIRST, *texts], start=1):
            (folder / f"{number:04}_step.sql").write_text(text)
        return read_migrations(folder)

    return write
