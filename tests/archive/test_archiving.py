"""What is past its retention is in the archive, row by row, before it is gone here; and nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from postmill.archive.reading import verify
from postmill.domain.settings_archive import ArchiveSettings
from tests.archive.exact import dropped, exact
from tests.archive.history import made, tables, tenant
from tests.archive.support import Keeper, keeping, settings
from tests.support.bucket import bucket
from tests.support.databases import Database
from tests.support.invariants import invariants

DEFAULT = UUID(int=1)
SOURCES = ("job", "attempt", "outcome", "dead_letter")


async def archived_equals_dropped(
    database: Database, pg: Connection[Any], to: ArchiveSettings, before_that: ArchiveSettings | None = None
) -> Keeper:
    """The proof itself, for one place and one format. `before_that`: an archive that fails, which loses nothing."""
    history = made(pg, "50 days", [DEFAULT, tenant(pg, "bakery")], each=3)
    before = {source: dropped(pg, source) for source in SOURCES}
    if before_that is not None:
        async with keeping(database, before_that) as lost:
            failed = str(await lost.run("0"))
            assert "UpkeepFailed" in failed
            assert "its-secret-key" not in failed
            assert await lost.archive() == [], "tried again later"
        pg.execute("update postmill.archive_unit set next_try = postmill.now()")
    async with keeping(database, to) as keeper:
        told = await keeper.run("0")
        assert {type(event).__name__ for event in told} == {"HistoryArchived"}, told
        assert tables(pg) == {
            "job": 0, "job_kept": 1, "attempt": 0, "outcome": 0, "dead_letter": 0, "leaving": 0
        }  # fmt: skip
        waiting = dropped(pg, "job_kept")
        for source, rows in before.items():
            found = sorted(exact(line) for line in keeper.lines(source))
            assert found == [row for row in rows if row not in waiting], source
            for folder in keeper.place.folders(source):
                verify(keeper.place, keeper.place.manifest(folder))
        assert await keeper.run("0") == []
    assert [row[0] for row in pg.execute("select id from postmill.job_kept")] == [history.waiting]
    invariants(pg, lease_seconds=1e9)
    return keeper


async def test_a_folder_with_lines(database: Database, pg: Connection[Any], tmp_path: Path) -> None:
    keeper = await archived_equals_dropped(database, pg, settings(f"file://{tmp_path}/a", rows_per_file=5))
    places = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in places} == {".gz", ".json"}
    assert not [path for path in places if path.stat().st_mode & 0o077 and path.parent.stat().st_mode & 0o077]
    [manifest] = [keeper.place.manifest(folder) for folder in keeper.place.folders("outcome")]
    assert len(manifest.tenants) == 2
    assert sum(manifest.tenants.values()) == manifest.rows == 18
    assert {"part-0000.ndjson.gz", "part-0003.ndjson.gz"} <= {part.name for part in manifest.parts}


async def test_a_bucket_with_parquet(
    database: Database, pg: Connection[Any], free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bucket(free_port, monkeypatch) as place:
        to = ArchiveSettings.model_validate(place | {"format": "parquet", "rows_per_file": 7})
        nowhere = ArchiveSettings.model_validate(place | {"url": "s3://no-such-bucket/archive"})
        await archived_equals_dropped(database, pg, to, nowhere)


@pytest.mark.long
@pytest.mark.parametrize("format", ["ndjson", "parquet"])
@pytest.mark.parametrize("where", ["folder", "bucket"])
async def test_every_format_in_every_place(
    database: Database, pg: Connection[Any], tmp_path: Path, free_port: int, monkeypatch: pytest.MonkeyPatch,
    format: str, where: str,
) -> None:  # fmt: skip
    if where == "folder":
        await archived_equals_dropped(database, pg, settings(f"file://{tmp_path}/a", format=format))
        return
    with bucket(free_port, monkeypatch) as place:
        await archived_equals_dropped(
            database, pg, ArchiveSettings.model_validate(place | {"format": format})
        )
