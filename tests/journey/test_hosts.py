"""Eight workers on four hosts and a database with a synchronous standby: cables are pulled, the database fails over."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from postmill import Client
from postmill.domain.errors import DatabaseMissing
from postmill.domain.job import NewJob
from tests.journey import handlers
from tests.journey.hosted import HOST
from tests.support.eventually import eventually
from tests.support.fleet import HANDLERS
from tests.support.invariants import invariants
from tests.support.mould import Mould
from tests.support.network import Host, hosts
from tests.support.pair import Pair, Server, pair
from tests.support.spawner import ROOT, Spawned, spawner

LEASE = 2.0


@dataclass
class Place:
    """The hosts, their workers and the database."""

    pair: Pair
    hosts: list[Host]
    workers: list[Spawned] = field(default_factory=list)
    told: list[UUID] = field(default_factory=list)
    """The jobs whose enqueuing was confirmed."""
    refused: list[str] = field(default_factory=list)
    """What was said of those that were not."""

    def one(self, server: Server, sql: str) -> Any:
        row = server.eye.execute(sql).fetchone()
        assert row is not None
        return row[0]

    def hire(self, host: Host) -> None:
        """A worker there, which reaches the database by the network only."""
        env = {
            HOST: host.name,
            "POSTMILL_DATABASE_URL": self.pair.url(host.gateway),
            "POSTMILL_WORKER__LEASE": str(LEASE),
            "POSTMILL_WORKER__GRACE": "5",
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
        }
        words = ["postmill", "worker", HANDLERS, "--queues", "default=4"]
        self.workers.append(
            spawner().start(words, ROOT, env, module="tests.journey.hosted", family=False)
        )  # fmt: skip

    def sessions(self, server: Server) -> int:
        """Workers whose lease is good."""
        return int(self.one(server, "select count(*) from postmill.lease where expires_at > postmill.now()"))

    def effects(self, server: Server) -> int:
        return int(self.one(server, "select count(*) from effect"))

    def produce(self, stop: threading.Event, pace: float, seconds: float) -> None:
        """Enqueue one every `pace` seconds, whatever becomes of the database."""
        payload = f'{{"seconds": {seconds}}}'.encode()
        with Client(self.pair.url("127.0.0.1") + "&connect_timeout=2") as client:
            while not stop.wait(pace):
                try:
                    self.told.append(client.enqueue(NewJob("p_effect", payload)).id)
                except (psycopg.Error, DatabaseMissing) as fault:
                    self.refused.append(repr(fault))

    def settled(self, server: Server) -> None:
        """Nothing is lost: what was confirmed has its effect. Nothing is twice: each effect is another job's."""
        left = """select (select count(*) from postmill.any_job)
                       - (select count(*) from postmill.outcome where status = 'succeeded')"""
        # As long as it goes on: how many wait depends on how quickly producers were beside other work.
        while waiting := self.one(server, left):
            eventually(
                lambda waiting=waiting: self.one(server, left) < waiting, 60, f"one of {waiting} to succeed"
            )
        with server.connect() as conn:
            effects = [id for (id,) in conn.execute("select job_id from effect")]
            jobs = [id for (id,) in conn.execute("select id from postmill.any_job")]
            assert len(effects) == len(set(effects))
            assert set(effects) == set(jobs)
            assert set(self.told) - set(effects) == set()
            invariants(conn, lease_seconds=LEASE)


@pytest.fixture
def place(mould: Mould, tmp_path: Path) -> Iterator[Place]:
    with ExitStack() as stack:
        four = stack.enter_context(hosts(4))
        made = Place(stack.enter_context(pair(mould, tmp_path)), four)
        with made.pair.primary.connect() as conn:
            conn.execute("create table effect (job_id uuid)")
            conn.execute(handlers.REGISTER)
        try:
            for host in [*four, *four]:
                made.hire(host)
            eventually(lambda: made.sessions(made.pair.primary) == 8, 60, "eight workers")
            yield made
        finally:
            for worker in made.workers:
                worker.close()


def ordeal(place: Place, cuts: int, *, producers: int, pace: float) -> None:
    """While jobs come in: hosts lose their network and get it back, and in the middle the primary dies."""
    primary, standby = place.pair.primary, place.pair.standby
    stop = threading.Event()
    threads = [threading.Thread(target=place.produce, args=(stop, pace, 0.2)) for _ in range(producers)]
    for thread in threads:
        thread.start()
    try:
        serving = primary
        for turn in range(cuts):
            so_far = place.effects(serving)
            eventually(
                lambda so_far=so_far, on=serving: place.effects(on) > so_far + 50,
                60,
                f"work goes on; {place.refused[-3:]}",
            )
            place.hosts[turn % 4].cut()
            eventually(lambda on=serving: place.sessions(on) == 6, 30, "two workers given up")
            if turn == cuts // 2:
                place.pair.fail_over()
                serving = standby
            place.hosts[turn % 4].mend()
            eventually(lambda on=serving: place.sessions(on) == 8, 60, "eight workers again")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    place.settled(standby)
    assert [worker.poll() for worker in place.workers] == [None] * 8


def test_a_host_is_cut_off_and_the_database_fails_over(place: Place) -> None:
    ordeal(place, 1, producers=1, pace=0.03)
    assert len(place.told) > 40


@pytest.mark.long
def test_twenty_cuts_and_a_failover(place: Place) -> None:
    # 80 a second: half of what the workers do, so that what is left at the end does not outlast the rest.
    ordeal(place, 20, producers=4, pace=0.05)
    assert len(place.told) > 1_000
    print(len(place.told), "confirmed,", len(place.refused), "refused:", set(place.refused))  # noqa: T201
