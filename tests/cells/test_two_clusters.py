"""Two PostgreSQL servers, processes of workers that serve both, and a tenant that moves while 500 jobs a second run."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from pydantic import SecretStr

from postmill import AsyncCells, Settings
from postmill.domain.settings_cells import CellSettings
from postmill.local.server import LocalServer
from tests.cells.conftest import Two, register
from tests.cells.jobs import BOOK, jot
from tests.cli.processes import running
from tests.cli.support import cli
from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.invariants import invariants

JOBS = Path(__file__).with_name("jobs.py")
BATCH = 10


@pytest.fixture
def apart(database: Database, own_cluster: LocalServer) -> Iterator[Two]:
    """Cell a in the server that tests share, cell b in one of its own."""
    cells = {
        "a": CellSettings(database_url=SecretStr(database.dsn), directory=True),
        "b": CellSettings(database_url=SecretStr(own_cluster.dsn("postgres"))),
    }
    with (
        database.connect() as a,
        psycopg.connect(own_cluster.dsn("postgres"), autocommit=True) as b,
    ):
        acme, other = (
            UUID(str(a.execute("select id from postmill.door_create_tenant(%s, '{}')", [slug]).fetchone()[0]))  # type: ignore[index]
            for slug in ("acme", "other")
        )
        register(a)
        yield Two(a, b, cells, acme, other)


@pytest.fixture
def config(apart: Two, tmp_path: Path) -> Path:
    """A settings file with both cells."""
    return written(apart, tmp_path)


def written(two: Two, folder: Path) -> Path:
    """The cells as a settings file."""
    file = folder / "postmill.toml"
    lines = []
    for name, cell in two.cells.items():
        lines += [f"[cells.{name}]", f"database_url = {json.dumps(cell.dsn)}"]
        lines += ["directory = true"] if cell.directory else []
    file.write_text("\n".join(lines))
    return file


@dataclass
class Flow:
    """Enqueues for one tenant at a steady rate, and keeps what was accepted and when."""

    cells: AsyncCells
    tenant: UUID
    rate: float
    accepted: list[UUID] = field(default_factory=list)
    longest: float = 0.0
    stopped: bool = False

    async def run(self) -> None:
        """Until `stopped`."""
        clock = asyncio.get_running_loop().time
        due = clock()
        while not self.stopped:
            began = clock()
            made = await self.cells.enqueue_many(jot.using(tenant=self.tenant).new() for _ in range(BATCH))
            self.longest = max(self.longest, clock() - began)
            self.accepted += [job.id for job in made]
            due += BATCH / self.rate
            await asyncio.sleep(max(0.0, due - clock()))


@dataclass(frozen=True)
class Ran:
    """What workers wrote down."""

    id: UUID
    tenant: UUID
    at: float

    @property
    def wait(self) -> float:
        """Seconds from being made to having run."""
        return self.at - (self.id.int >> 80) / 1000


def ran(book: Path) -> list[Ran]:
    """All of it."""
    lines = [line.split() for file in book.iterdir() for line in file.read_text().splitlines()]
    return [Ran(UUID(id), UUID(tenant), float(at)) for id, tenant, at in lines]


HISTORY = """
with made as (
    insert into postmill.job (id, tenant_id, job_type, queue, payload, priority, max_attempts, created_at)
    select postmill.new_id(), %(tenant)s, 'jot', 'quick', '{}', 100, 3, now() from generate_series(1, %(done)s) returning id
)
insert into postmill.outcome (job_id, tenant_id, status, finished_at, attempt, run, lost)
select id, %(tenant)s, 'succeeded', now(), 1, 1, 0 from made"""
LATER = """
with made as (
    insert into postmill.job (id, tenant_id, job_type, queue, payload, priority, max_attempts, created_at, scheduled_for)
    select postmill.new_id(), %(tenant)s, 'jot', 'quick', '{}', 100, 3, now(), now() + interval '1 day'
      from generate_series(1, %(later)s) returning id
)
insert into postmill.scheduled (queue, lane, run_at, id, priority, attempt, run, lost)
select 'quick', %(tenant)s, now() + interval '1 day', id, 100, 1, 0, 0 from made"""
MUCH = {"done": 50_000, "later": 20_000}


@pytest.mark.long
async def test_a_tenant_moves_between_two_servers_while_500_jobs_a_second_run(
    apart: Two, config: Path, tmp_path: Path
) -> None:
    book = tmp_path / "book"
    book.mkdir()
    for statement in (HISTORY, LATER):
        apart.a.execute(statement, MUCH | {"tenant": apart.acme})
    words = ["--config", str(config), "worker", str(JOBS), "--cells", "a,b", "--queues", "quick=40"]
    with running(tmp_path, *words, env={BOOK: str(book)}) as workers:
        workers.says("2 processes share quick=40 in cells a, b")
        for conn in (apart.a, apart.b):
            await asyncio.to_thread(
                eventually,
                lambda conn=conn: conn.execute(
                    "select 1 from postmill.worker where slots <> '{}'"
                ).fetchone(),
                60,
                "a worker",
            )
        flows, move, since = await moved(apart, config, tmp_path)
        want = sorted(id for flow in flows for id in flow.accepted)
        await asyncio.to_thread(eventually, lambda: len(ran(book)) >= len(want), 120, "all jobs have run")
        lasted = time.time() - since
    found = ran(book)
    assert sorted(one.id for one in found) == want, "lost, or run twice"
    for conn in (apart.a, apart.b):
        invariants(conn)
    (later,) = apart.b.execute("select count(*) from postmill.scheduled").fetchone() or (0,)
    assert later == MUCH["later"]
    rate = len(want) / lasted
    waits = sorted(one.wait for one in found if one.tenant == apart.other)
    said = {share: f"{1000 * waits[int(share * len(waits))]:.0f} ms" for share in (0.5, 0.99)}
    print(  # noqa: T201 - the figures of the long form
        f"\n{len(want)} jobs in {lasted:.1f} s, {rate:.0f} a second from the first enqueue to the last end;"
        f" closed for {move['closed_seconds']:.2f} s: {move['parts']}; the longest enqueue of the tenant took"
        f" {flows[0].longest:.2f} s, of its neighbour {flows[1].longest:.2f} s; the neighbour's jobs waited {said};"
        f" moved in {move['took']:.1f} s with { ({k: v for k, v in move['carried'].items() if v}) }"
    )
    assert rate >= 450
    assert move["closed_seconds"] <= 2


async def moved(two: Two, config: Path, folder: Path) -> tuple[list[Flow], dict[str, object], float]:
    """The move, by a process of its own, within a minute of load."""
    async with AsyncCells(Settings(cells=two.cells)) as cells:
        flows = [Flow(cells, tenant, 250) for tenant in (two.acme, two.other)]
        since = time.time()
        tasks = [asyncio.create_task(flow.run()) for flow in flows]
        await asyncio.sleep(20)
        words = ["--config", str(config), "tenants", "move", "acme", "--to", "b", "--json"]
        began = time.monotonic()
        with running(folder, *words) as mover:
            await asyncio.to_thread(mover.ends, 120)
            assert mover.process.code == 0, mover.err
            move = json.loads(mover.out)
        move["took"] = time.monotonic() - began
        await asyncio.sleep(10)
        for flow in flows:
            flow.stopped = True
        await asyncio.gather(*tasks)
    return flows, move, since


@pytest.mark.long
def test_both_servers_are_told_apart(apart: Two, config: Path) -> None:
    looked = cli("--config", str(config), "tenants", "move", "acme", "--to", "b", "--preview", "--json")
    assert (looked.code, looked.json["blockers"]) == (0, []), looked.err
