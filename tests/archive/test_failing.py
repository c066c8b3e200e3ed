"""An archive that fails, is full, is cut off in the middle or was tampered with: nothing is lost, and it is told."""

from __future__ import annotations

import gzip
import json
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from pydantic import ValidationError

from postmill.archive import writing
from postmill.archive.place import Place
from postmill.archive.reading import verify
from postmill.domain.archive import MANIFEST, Manifest
from postmill.domain.errors import ArchiveDamaged, ArchiveFailed, ArchiveMissing
from postmill.domain.settings_archive import ArchiveSettings
from postmill.telemetry.events import UpkeepFailed
from tests.archive.exact import dropped, exact
from tests.archive.history import made, tables
from tests.archive.support import Keeper, keeping, settings
from tests.support.databases import Database

DEFAULT = UUID(int=1)


@pytest.mark.parametrize(
    "url",
    [
        "", "archive", "file://", "s3:///", "simplecache::s3://bucket/a", "http://example.org/a", "data://x", "zip://a.zip",
        "file:///srv/../etc", "s3://bucket/a?versionId=1", "filecache::http://x", "file:///srv/a\0b", "//host/share",
    ],
)  # fmt: skip
def test_what_is_no_place_for_an_archive(url: str) -> None:
    with pytest.raises(ValidationError, match="must"):
        settings(url)


def test_a_protocol_that_nobody_speaks() -> None:
    with pytest.raises(ArchiveFailed, match="gopher"):
        Place("gopher://srv/archive", {})
    with pytest.raises(ArchiveMissing, match=r"archive\.url"):
        Place("gdrive://srv/archive", {})


def unarchived(pg: Connection[Any]) -> int:
    """Rows that are still in the database, wherever."""
    names = [
        row[0] for row in pg.execute("select relation from postmill.archive_unit where status = 'waiting'")
    ]
    counts = [
        pg.execute(f"select count(*) from postmill.{name}".encode()).fetchone() for name in names if name
    ]
    return sum(row[0] for row in counts if row) + sum(tables(pg).values())


async def test_a_full_disk_and_crashes_at_every_step(
    database: Database, pg: Connection[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(pg, "50 days", [DEFAULT], each=2)
    bodies, waiting = dropped(pg, "job"), 1
    rows = sum(tables(pg).values())
    folder = tmp_path / "a"
    async with keeping(database, settings(f"file://{folder}", rows_per_file=3)) as keeper:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        try:
            told = await keeper.run("0")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert {type(event) for event in told} == {UpkeepFailed}
        assert "File too large" in str(told[0])
        assert unarchived(pg) == rows
        assert not list(folder.rglob(MANIFEST))
        # As doctor sees it; then the archive is there again.
        state = pg.execute("select waiting, failing, error from postmill.door_archive_state()").fetchone()
        assert state is not None
        assert state[0] == state[1] > 0
        assert "File too large" in state[2]

        for step in _crashes(keeper, monkeypatch):
            pg.execute("update postmill.archive_unit set next_try = postmill.now(), claimed_until = null")
            with pytest.raises(Crash):
                await keeper.archive()
            monkeypatch.undo()
            assert unarchived(pg) + _archived(keeper) >= rows, step
        pg.execute("update postmill.archive_unit set next_try = postmill.now(), claimed_until = null")
        assert UpkeepFailed not in {type(event) for event in await keeper.archive()}
        assert unarchived(pg) == waiting
        assert (
            len({exact(line) for line in keeper.lines("job")})
            == len(keeper.lines("job"))
            == len(bodies) - waiting
        )
        assert not [path for path in folder.rglob("*") if path.suffix == ".part"]


class Crash(Exception):
    """The process was killed here."""


def _crashes(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Between two files, before the manifest, after it but before the database knows."""

    def dies(*args: object, **kwargs: object) -> None:
        raise Crash

    accept, calls = Place.accept, [0]

    def second(*args: Any) -> None:
        calls[0] += 1
        if calls[0] > 1:
            raise Crash
        accept(*args)

    monkeypatch.setattr(Place, "accept", second)
    yield "between two files"
    monkeypatch.setattr(writing.UnitWriter, "publish", dies)
    yield "before the manifest"
    rows = keeper.archivist.link.rows

    async def cut(path: str, args: Any = ()) -> Any:
        if path == "archive/unit_archived":
            raise Crash
        return await rows(path, args)

    monkeypatch.setattr(keeper.archivist.link, "rows", cut)
    yield "before the database knows"


def _archived(keeper: Keeper) -> int:
    return sum(len(keeper.rows(source)) for source in ("job", "attempt", "outcome", "dead_letter"))


async def test_what_was_cut_or_changed_is_found(
    database: Database, pg: Connection[Any], tmp_path: Path
) -> None:
    made(pg, "50 days", [DEFAULT], each=3)
    async with keeping(database, settings(f"file://{tmp_path}/a")) as keeper:
        await keeper.run("0")
        [folder] = keeper.place.folders("outcome")
        manifest = keeper.place.manifest(folder)
        verify(keeper.place, manifest)
        part = tmp_path / "a" / folder / manifest.parts[0].name
        whole, lines = part.read_bytes(), gzip.decompress(part.read_bytes())
        other = lines.replace(b'"failed"', b'"worked"', 1)
        for name, change in {
            "cut short": lambda: part.write_bytes(whole[:-20]),
            "grown": lambda: part.write_bytes(whole + b"\0"),
            "one bit": lambda: part.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]),
            "another row": lambda: part.write_bytes(gzip.compress(other, mtime=0)),
            "gone": part.unlink,
        }.items():
            change()
            with pytest.raises(ArchiveDamaged, match=r"part-0000\.ndjson\.gz"):
                verify(keeper.place, manifest)
            part.write_bytes(whole)
            assert name
        text = tmp_path / "a" / folder / MANIFEST
        good = json.loads(text.read_bytes())
        wrong: dict[str, Callable[[dict[str, Any]], Any]] = {
            "rows": lambda it: it["parts"][0].update(rows=1),
            "sums": lambda it: it["parts"][0].update(rows_sha256="0" * 64),
            "tenants": lambda it: it.update(tenants={}),
        }
        for change_of in wrong.values():
            bad = json.loads(text.read_bytes())
            change_of(bad)
            with pytest.raises(ArchiveDamaged):
                verify(keeper.place, Manifest.of(bad, "x"))
        hostile: list[Any] = [
            [], {}, {**good, "version": 2}, {**good, "parts": 1}, {**good, "unit": "x"}, {**good, "source": "../etc"},
            {**good, "parts": [{**good["parts"][0], "name": "../../../etc/passwd"}]}, {**good, "columns": 7},
        ]  # fmt: skip
        for one in hostile:
            text.write_text(json.dumps(one))
            with pytest.raises(ArchiveDamaged):
                keeper.place.manifest(folder)
        for raw in (b"", b"{", b"\xff\xfe", b"null"):
            text.write_bytes(raw)
            with pytest.raises(ArchiveDamaged):
                keeper.place.manifest(folder)


async def test_a_folder_that_may_not_be_written(
    database: Database, pg: Connection[Any], tmp_path: Path
) -> None:
    """As root nothing is forbidden, so that a file stands where the folder should be."""
    (tmp_path / "a").write_text("")
    made(pg, "50 days", [DEFAULT], each=1)
    async with keeping(database, settings(f"file://{tmp_path}/a")) as keeper:
        told = await keeper.run("0")
        assert {type(event) for event in told} == {UpkeepFailed}
        assert "Error" in str(told[0])
        if os.geteuid() != 0:
            (tmp_path / "b").mkdir(mode=0o500)
            with pytest.raises(ArchiveFailed, match="Permission"):
                Place(f"file://{tmp_path}/b", {}).put("job/x", "f", b"")
    assert ArchiveSettings().address is None
