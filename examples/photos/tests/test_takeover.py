"""A worker dies, or its host loses the network, while it runs a command: another one does the work, and nothing is half done."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import UUID

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from examples.photos.tests import fleet
from examples.photos.tests.studio import Studio, Tenant, drawn
from examples.photos.tests.studio import serving as dropbox_serving
from examples.upstreams.script import Script
from postmill.bind import drive
from postmill.operate.insight import all_workers
from tests.cli.support import cli
from tests.support.eventually import eventually
from tests.support.network import Host, hosts
from tests.support.proxy import Proxy
from tests.support.spawner import Spawned

SLOW = Script(latency=(0.1, 0.1))
PICTURES = 24
PAGE = {"DROPBOX_PAGE": "4"}


def under_way(studio: Studio, tenant: Tenant, workers: list[Spawned]) -> tuple[UUID, Spawned, Spawned]:
    """A sync with at least a page committed and others to come; the worker that runs it, and the other one."""
    job = fleet.sync(studio, tenant)
    eventually(lambda: len(studio.pictures(tenant)) >= 4, 20, "the first page")
    pid = fleet.holder(studio, job)
    assert pid is not None, fleet.attempts(studio, job)
    one, other = workers if workers[0].pid == pid else reversed(workers)
    assert one.pid == pid
    return job, one, other


def whole(studio: Studio, tenant: Tenant, job: UUID) -> None:
    """Every picture once, one ingest of all of them, and one event that tells of it."""
    assert studio.pictures(tenant) == sorted(picture.name for picture in drawn(PICTURES))
    assert studio.rows("select pictures from ingests") == [(PICTURES,)]
    assert studio.rows(
        "select context ->> 'pictures' from postmill.event where name = 'images.ingest.completed'"
    ) == [(str(PICTURES),)]
    ended = fleet.attempts(studio, job)
    assert [status for status, _ in ended] == ["lost", "succeeded"]
    assert ended[0][1] != ended[1][1]
    # The watchdog: not before the lease was over, and a little jitter after it.
    [(seconds,)] = studio.rows(
        "select extract(epoch from max(started_at) - min(started_at)) from postmill.job_attempts where job_id = %s",
        job,
    )
    assert float(seconds) >= fleet.LEASE / 2


def test_a_worker_that_is_killed(studio: Studio, tmp_path: Path) -> None:
    studio.dropbox.script = SLOW
    fleet.define(studio)
    tenant = studio.tenant("bcg")
    tenant.upload(drawn(PICTURES))
    with ExitStack() as stack:
        workers = [fleet.hire(studio, tmp_path, studio.dsn, PAGE) for _ in range(2)]
        for worker in workers:
            stack.callback(worker.close)
        fleet.serving(studio, *workers)
        job, victim, other = under_way(studio, tenant, workers)
        victim.kill()
        fleet.succeeded(studio, job)
        whole(studio, tenant, job)
        # Now nobody is left to notice: the list and the doctor say who is silent.
        other.kill()

        def state() -> str:
            by_pid = {one.pid: one.state for one in drive(studio.conn, all_workers())}
            return by_pid[other.pid]

        eventually(lambda: state() == "lost", 10, "the worker's being told as lost")
    assert re.search(rf"warn +workers +0 alive; silent: \S+:{other.pid}:", cli("doctor", dsn=studio.dsn).out)


@contextmanager
def reachable(dsn: str, host: str) -> Iterator[str]:
    """The database on a TCP port of this machine's addresses, from a thread; the address as `host` sees it."""
    parts = conninfo_to_dict(dsn)
    target = Path(str(parts["host"])) / f".s.PGSQL.{parts.get('port', 5432)}"
    loop, ready, done = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    proxy = Proxy(target, host="0.0.0.0")

    async def relay() -> None:
        async with proxy:
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(relay()), name="relay")
    thread.start()
    assert ready.wait(10)
    try:
        yield make_conninfo("", **parts | {"host": host, "port": proxy.port})
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
        loop.close()


def hired(studio: Studio, folder: Path, host: Host, dsn: str, port: int) -> Spawned:
    """A worker on a host that reaches everything by the network only."""
    seen = make_conninfo(dsn, host=host.gateway)
    dropbox = f"http://{host.gateway}:{port}"
    env = PAGE | {
        "ZOLTAG_DATABASE_URL": seen,
        "DROPBOX_API_URL": dropbox,
        "DROPBOX_CONTENT_URL": dropbox,
    }
    return fleet.hire(studio, folder, seen, env, host.within())


def test_a_host_whose_cable_is_pulled(studio: Studio, tmp_path: Path) -> None:
    """Two hosts with a worker each. Afterwards the first one comes back by itself and works on."""
    with ExitStack() as stack:
        places = stack.enter_context(hosts(2))
        far = stack.enter_context(dropbox_serving(SLOW, host="0.0.0.0"))
        dsn = stack.enter_context(reachable(studio.dsn, "127.0.0.1"))
        fleet.define(studio)
        tenant = studio.tenant("bcg")
        far.accounts = studio.dropbox.accounts
        tenant.upload(drawn(PICTURES))
        workers = [hired(studio, tmp_path, host, dsn, far.server_address[1]) for host in places]
        for worker in workers:
            stack.callback(worker.close)
        fleet.serving(studio, *workers)
        job, silent, other = under_way(studio, tenant, workers)
        place = places[workers.index(silent)]
        place.cut()
        fleet.succeeded(studio, job)
        whole(studio, tenant, job)
        place.mend()
        other.kill()
        assert silent.poll() is None, silent.output
        again = fleet.sync(studio, tenant)
        fleet.succeeded(studio, again, 60)
        assert fleet.attempts(studio, again)[-1][1] != fleet.attempts(studio, job)[-1][1]
    whole(studio, tenant, job)


@pytest.fixture(autouse=True)
def _no_namespaces_left() -> Iterator[None]:
    """Whatever happens, none of ours stays."""
    yield
    folder = Path("/run/netns")
    mine = [path.name for path in folder.glob("mill-*")] if folder.exists() else []
    assert [name for name in mine if name.split("-")[1] == str(os.getpid())] == []
