"""Retention per tenant and status, dead letters after 30 and 90 days, and what is never deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg import Connection

from postmill.engine.upkeep.retention import RetentionConfig
from postmill.telemetry.events import ArchiveSpent
from tests.archive.history import made, tables, tenant
from tests.archive.support import keeping, settings
from tests.support import sessions
from tests.support.databases import Database
from tests.support.invariants import invariants
from tests.support.sessions import WorkerSession

DEFAULT = UUID(int=1)


def rule(conn: Connection[Any], subject: str, seconds: float | None, of: UUID | None = None) -> str:
    return str(
        sessions.one(conn, "select postmill.door_set_retention(%s, %s, %s, false)", of, subject, seconds)
    )


def left(conn: Connection[Any]) -> set[tuple[str, str, int]]:
    """Outcomes by tenant and status, and each has its body."""
    bodies = "select count(*) from postmill.outcome o where not exists (select from postmill.any_job j where j.id = o.job_id)"
    assert sessions.one(conn, bodies) == 0
    return set(
        conn.execute(
            """select t.slug, o.status, count(*) from postmill.outcome o join postmill.tenant t on t.id = o.tenant_id
                group by 1, 2"""
        ).fetchall()
    )


async def test_each_tenant_and_status_by_its_own_rule(
    database: Database, pg: Connection[Any], tmp_path: Path
) -> None:
    bakery, mill, shop = (tenant(pg, name) for name in ("bakery", "mill", "shop"))
    made(pg, "20 days", [DEFAULT, bakery, mill, shop], each=2)
    day = 86400
    async with keeping(database, settings(f"file://{tmp_path}/a")) as keeper:
        assert rule(pg, "succeeded", 10 * day) == "changed"
        assert rule(pg, "succeeded", 10 * day) == "unchanged"
        rule(pg, "failed", 365 * day, bakery)
        rule(pg, "failed", 7 * day, mill)
        rule(pg, "archive", 0, shop)
        pg.execute("update postmill.tenant set retention = '100 days' where id = %s", [shop])
        everything = {(slug, status, 2) for slug in ("default", "bakery", "mill", "shop")
                      for status in ("succeeded", "failed", "canceled")}  # fmt: skip
        assert left(pg) == everything
        await keeper.run("0")
        gone = {
            ("default", "succeeded", 2),
            ("bakery", "succeeded", 2),
            ("mill", "succeeded", 2),
            ("mill", "failed", 2),
        }
        assert left(pg) == everything - gone
        assert len(keeper.rows("outcome")) == 8
        assert sessions.one(pg, "select count(*) from postmill.attempt") == 4 * 2 * 2 - 2
        invariants(pg, lease_seconds=1e9)

        # Sixty days on the partitions are gone; what a rule keeps for longer stays where it was, in a thin one.
        await keeper.run("60 days")
        longer = {("bakery", "failed", 2), *((slug, s, n) for slug, s, n in everything if slug == "shop")}
        assert left(pg) == longer
        assert sessions.one(pg, "select count(*) from postmill.partition where thin") == 2
        assert {row["tenant_id"] for row in keeper.rows("job")} == {str(DEFAULT), str(bakery), str(mill)}
        invariants(pg, lease_seconds=1e9)

        # And goes when it is past its own: the shop's without a trace in the archive.
        await keeper.run("110 days")
        assert left(pg) == {("bakery", "failed", 2)}
        assert str(shop) not in {
            row["tenant_id"] for source in ("job", "outcome") for row in keeper.rows(source)
        }
        await keeper.run("400 days")
        assert left(pg) == set()
        assert sessions.one(pg, "select count(*) from postmill.partition where thin") == 0
        assert {row["status"] for row in keeper.rows("outcome") if row["tenant_id"] == str(bakery)} == {
            "succeeded", "failed", "canceled"
        }  # fmt: skip

        # Erasure: from now on nothing of the bakery is kept in the archive, and what is there goes.
        before = len(keeper.rows("job"))
        of_bakery = [row for row in keeper.rows("job") if row["tenant_id"] == str(bakery)]
        rule(pg, "archive", 0, bakery)
        told = await keeper.run("401 days")
        assert sum(event.rows for event in told if isinstance(event, ArchiveSpent)) > len(of_bakery) > 0
        assert len(keeper.rows("job")) == before - len(of_bakery)
        assert str(bakery) not in {row["tenant_id"] for row in keeper.rows("outcome")}
        said = "select count(*) from postmill.audit_log where action in ('archive.erase', 'archive.delete')"
        assert sessions.one(pg, said) > 0
        # After two years nothing is left at all.
        await keeper.run("1200 days")
        await keeper.run("1201 days")
        assert [path for path in (tmp_path / "a").rglob("*") if path.is_file()] == []


async def test_dead_letters_go_to_the_archive_and_then_for_good(
    database: Database, pg: Connection[Any], tmp_path: Path
) -> None:
    """Seed 4: 30 days, cold storage, deleted after 90; but for those whose subject was deleted."""
    pg.execute("""select * from postmill.register_job_types('[{"key": "plain"}]')""")
    worker = WorkerSession(pg, lease=1e9)
    for _ in range(3):
        pg.execute("select postmill.enqueue('plain')")
    one, deleted, replayed = worker.claim()
    sessions.bury(pg, [one, replayed])
    sessions.bury(pg, [deleted], "subject_deleted")
    config = RetentionConfig({"archive_after": 30 * 86400, "dead_letter": 90 * 86400}, 40 * 86400)
    async with keeping(database, settings(f"file://{tmp_path}/a"), config) as keeper:
        await keeper.run("29 days")
        assert sessions.one(pg, "select count(*) from postmill.dead_letter") == 3
        with sessions.shifted(pg, "29 days"):
            sessions.rows(
                pg, "jobs/replay_jobs", [replayed.id], "user", None, None, False, False, False, None, False
            )
        await keeper.run("32 days")
        assert [row["id"] for row in keeper.rows("dead_letter")] == [str(one.id)]
        assert [row["id"] for row in keeper.rows("job") if row["id"] == str(one.id)] == [str(one.id)]
        assert [row[0] for row in pg.execute("select id from postmill.dead_letter")] == [deleted.id]
        assert sessions.states(pg, [one.id]) == {}
        with sessions.shifted(pg, "32 days"):
            invariants(pg, lease_seconds=1e9)
        # Of two that were archived one is deleted first, history stays in the archive.
        await keeper.run("89 days")
        assert keeper.rows("dead_letter")
        await keeper.run("92 days")
        assert keeper.rows("dead_letter") == []
        assert str(one.id) not in {row["id"] for row in keeper.rows("job")}
        await keeper.run("700 days")
        assert [row[0] for row in pg.execute("select id from postmill.dead_letter")] == [deleted.id]
        assert sessions.states(pg, [deleted.id]) == {deleted.id: "dead_letter"}


async def test_without_an_archive(database: Database, pg: Connection[Any], tmp_path: Path) -> None:
    """A dead letter stays for its 90 days; what waits for an archive that is given up goes."""
    made(pg, "50 days", [DEFAULT], each=1)
    async with keeping(database, settings(f"file://{tmp_path}/a")) as keeper:
        await keeper.at("0")
        await keeper.prune()
        assert tables(pg) | {"job_kept": 0} == {
            "job": 0, "attempt": 0, "outcome": 0, "dead_letter": 1, "job_kept": 0, "leaving": 0
        }  # fmt: skip
        await keeper.at("45 days")
        await keeper.prune()
        assert tables(pg)["dead_letter"] == 0

        await keeper.archivist.link.rows("archive/here")
        with sessions.shifted(pg, "45 days"):
            pg.execute("select postmill.enqueue('plain')")
            worker = WorkerSession(pg)
            sessions.complete(pg, worker.claim())
        await keeper.at("160 days")
        await keeper.prune()
        assert sessions.one(pg, "select count(*) from postmill.archive_unit") == 2
        assert sessions.one(pg, "select postmill.door_switch_archive(false, 'given up')") == "changed"
        assert await keeper.archive() == []
        await keeper.prune()
        assert sessions.one(pg, "select count(*) from postmill.archive_unit") == 0
        assert (
            sessions.one(
                pg,
                "select count(*) from pg_class where relname ~ '^unit_|^job_2'  and relkind = 'r' and not relispartition",
            )
            == 0
        )
        assert not (tmp_path / "a").exists() or not any((tmp_path / "a").iterdir())
