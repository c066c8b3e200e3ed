"""PgQueuer under the benchmark: asyncpg and uvloop, as its documentation advises for throughput."""

import asyncio
import sys

import asyncpg
import uvloop
import wire
from pgqueuer import PgQueuer
from pgqueuer.models import Job
from pgqueuer.queries import Queries


class Peer:
    def __init__(self, pool: asyncpg.Pool) -> None:
        self.pool = pool
        self.queries = Queries.from_asyncpg_pool(pool)
        self.settings = wire.settings()

    async def install(self) -> None:
        await self.queries.install()

    async def bulk(self, jobs: int) -> None:
        size = self.settings["enqueue_batch"]
        for start in range(0, jobs, size):
            numbers = range(start, min(start + size, jobs))
            payloads: list[bytes | None] = [b'{"n": %d}' % number for number in numbers]
            await self.queries.enqueue(["noop"] * len(numbers), payloads, [0] * len(numbers))

    async def one(self, number: int) -> None:
        await self.queries.enqueue("noop", b'{"n": %d}' % number)

    async def work(self, tally: wire.Tally, stop: asyncio.Event) -> None:
        runner = PgQueuer.from_asyncpg_pool(self.pool)

        @runner.entrypoint("noop")
        async def noop(job: Job) -> None:
            tally.hit(int((job.payload or b"")[6:-1]) if tally.trace else 0)

        running = asyncio.create_task(runner.run(batch_size=self.settings["batch_size"]))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        runner.shutdown.set()
        await running


async def main() -> None:
    async with asyncpg.create_pool(min_size=2, max_size=wire.settings()["pool"]) as pool:
        await wire.serve(Peer(pool), sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")


uvloop.run(main())
