"""Files that never got a row, and files that cannot be cleared away."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import pytest

from postmill.client.artifacts import Artifacts
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.telemetry.events import ArtifactsCleared, UpkeepFailed
from tests.artifacts.rounds import Told, rounds
from tests.artifacts.support import Conn, files, rows
from tests.support.databases import Database

pytestmark = pytest.mark.matrix

AGO = "set postmill.clock_offset = '-{}'"


async def test_files_without_rows_go_after_a_day(
    artifacts: Artifacts, apg: Conn, folder: Path, told: Told
) -> None:
    """Of what a crash left incoming, and of whole ones whose row never came; what is not ours is left alone."""
    await apg.execute(AGO.format("2 days").encode())
    ((old,),) = await rows(apg, "select postmill.new_id()")
    ((older,),) = await rows(apg, "select postmill.new_id()")
    await apg.execute("reset postmill.clock_offset")
    ((new,),) = await rows(apg, "select postmill.new_id()")
    ((day,),) = await rows(
        apg, "select to_char((postmill.now() - interval '2 days') at time zone 'UTC', 'YYYY-MM-DD')"
    )
    tenant = uuid4()
    kept = artifacts.put("kept", b"x")
    await apg.execute("update postmill.artifact set id = %s where id = %s", [older, kept.id])
    (place,) = files(folder)
    own = f"{day}/{kept.tenant_id}/{older}"
    (folder / day / str(kept.tenant_id)).mkdir(parents=True)
    os.rename(folder / place, folder / own)
    stray = [f"incoming/{old}", f"{day}/{tenant}/{old}"]
    odd = f"{day}/ffffffff-ffff-7fff-8fff-ffffffffffff"
    left = [f"incoming/{new}", f"{day}/readme.txt", own, "other/file", odd]
    for path in [*stray, *left[:2], *left[3:]]:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"x")
    assert files(folder) == sorted([*stray, *left])
    assert await told.round() == [ArtifactsCleared(0, orphans=2)]
    assert files(folder) == sorted(left)
    assert not (folder / day / str(tenant)).exists()
    (folder / stray[0]).write_bytes(b"x")
    assert await told.round() == []  # the next look is an hour later
    await apg.execute("update postmill.upkeep set note = null where name = 'artifacts'")
    assert await told.round() == [ArtifactsCleared(0, orphans=1)]


async def test_what_cannot_be_cleared_away_is_tried_again_and_holds_up_nothing(
    artifacts: Artifacts, apg: Conn, folder: Path, told: Told
) -> None:
    first, second = artifacts.put("first", b"x"), artifacts.put("second", b"x")
    (stuck,) = [path for path in files(folder) if str(first.id) in path]
    (folder / stuck).unlink()
    (folder / stuck / "in the way").mkdir(parents=True)
    for one in (first, second):
        artifacts.delete(one.id)
    (failed,) = [event for event in await told.round() if isinstance(event, UpkeepFailed)]
    assert "could not clear a file away" in failed.error
    assert await rows(apg, "select id from postmill.artifact") == [(first.id,)]
    (folder / stuck / "in the way").rmdir()
    (folder / stuck).rmdir()
    assert await told.round() == [ArtifactsCleared(1)]


async def test_a_store_that_is_away_stops_nothing_else(database: Database, apg: Conn, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    settings = ArtifactSettings.model_validate({"url": f"file://{tmp_path}/file/in"})
    async with rounds(database, apg, settings) as told:
        (failed,) = await told.round()
        assert "could not be opened" in failed.error


async def test_one_round_at_a_time_in_a_fleet(told: Told, apg: Conn) -> None:
    await told.round()
    ((first,),) = await rows(apg, "select last_run_at from postmill.upkeep where name = 'artifacts'")
    await told.clearer.guarded()
    assert await rows(apg, "select last_run_at from postmill.upkeep where name = 'artifacts'") == [(first,)]
