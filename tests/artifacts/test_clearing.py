"""The round of upkeep: what nobody can see any more goes, file first."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from postmill.client.artifacts import Artifacts
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.telemetry.events import ArtifactsCleared
from tests.artifacts.rounds import Told
from tests.artifacts.support import Conn, files, rows
from tests.support.databases import Database
from tests.support.workers import until, working

pytestmark = pytest.mark.matrix

AGO = "set postmill.clock_offset = '-{}'"


async def test_expired_and_deleted_ones_go(artifacts: Artifacts, apg: Conn, folder: Path, told: Told) -> None:
    kept, expired, deleted = (artifacts.put(name, name) for name in ("kept", "expired", "deleted"))
    await apg.execute("update postmill.artifact set expires_at = postmill.now() where id = %s", [expired.id])
    artifacts.delete(deleted.id)
    assert len(files(folder)) == 3
    assert await told.round() == [ArtifactsCleared(2)]
    assert await rows(apg, "select id from postmill.artifact") == [(kept.id,)]
    assert [path.rpartition("/")[2] for path in files(folder)] == [str(kept.id)]
    assert artifacts.read(kept.id) == b"kept"
    assert await told.round() == []


async def test_more_than_a_batch_goes_in_one_round(
    artifacts: Artifacts, apg: Conn, folder: Path, told: Told
) -> None:
    for n in range(3):
        artifacts.put(f"{n}", b"x")
    await apg.execute(
        "insert into postmill.artifact select postmill.new_id(), tenant_id, null, n::text, content_type, size, sha256, null,"
        " created_at, created_at from generate_series(1, 250) n, (select * from postmill.artifact limit 1) a"
    )
    assert await told.round() == [ArtifactsCleared(250)]
    assert await rows(apg, "select count(*) from postmill.artifact") == [(3,)]
    assert len(files(folder)) == 3


async def test_those_of_pruned_jobs_go(artifacts: Artifacts, apg: Conn, told: Told) -> None:
    """But not those of a job whose body outlived its partition."""
    await apg.execute("""select * from postmill.register_job_types('[{"key": "old"}]')""")
    await apg.execute(AGO.format("60 days").encode())
    await apg.execute("select postmill.ensure_partitions(postmill.now())")
    survivor, pruned = [
        UUID(str(row[0]))
        for row in await rows(apg, "select postmill.enqueue('old') from generate_series(1, 2)")
    ]
    await apg.execute("reset postmill.clock_offset")
    made = [artifacts.put(name, b"x", expires_in=86400 * 365) for name in ("a", "b")]
    for one, job in zip(made, (survivor, pruned), strict=True):
        await apg.execute("update postmill.artifact set job_id = %s where id = %s", [job, one.id])
    await apg.execute("delete from postmill.ready where id = %s", [pruned])
    assert await told.round() == []
    for _ in range(20):
        await apg.execute("select * from postmill.prune_partition()")
    assert await rows(apg, "select id from postmill.any_job") == [(survivor,)]
    assert await told.round() == [ArtifactsCleared(1)]
    assert await rows(apg, "select id from postmill.artifact") == [(made[0].id,)]


async def test_a_worker_does_it(
    database: Database, apg: Conn, artifacts: Artifacts, store: ArtifactSettings, folder: Path
) -> None:
    artifacts.delete(artifacts.put("a", b"x").id)
    async with working(database.dsn, queues={}, artifacts=store):
        await until(lambda: files(folder) == [])
