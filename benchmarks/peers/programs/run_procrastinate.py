"""Procrastinate under the benchmark: psycopg, one concurrent worker with LISTEN/NOTIFY."""

import asyncio
import logging
import sys
from contextlib import suppress

import procrastinate
import uvloop
import wire
from procrastinate.types import JSONDict

logging.getLogger("procrastinate").setLevel(logging.ERROR)


class Peer:
    def __init__(self, app: procrastinate.App) -> None:
        self.app = app
        self.settings = wire.settings()
        self.tally = wire.Tally(False)

        @app.task(name="noop", queue="noop")
        async def noop(n: int) -> None:
            self.tally.hit(n)

        self.noop = noop

    async def install(self) -> None:
        await self.app.schema_manager.apply_schema_async()

    async def bulk(self, jobs: int) -> None:
        size = self.settings["enqueue_batch"]
        for start in range(0, jobs, size):
            batch: list[JSONDict] = [{"n": n} for n in range(start, min(start + size, jobs))]
            await self.noop.batch_defer_async(*batch)

    async def one(self, number: int) -> None:
        await self.noop.defer_async(n=number)

    async def work(self, tally: wire.Tally, stop: asyncio.Event) -> None:
        self.tally = tally
        worker = asyncio.create_task(
            self.app.run_worker_async(concurrency=self.settings["concurrency"], install_signal_handlers=False)
        )
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({worker, stopping}, return_when=asyncio.FIRST_COMPLETED)
        worker.cancel()
        with suppress(asyncio.CancelledError):
            await worker


async def main() -> None:
    pool = wire.settings()["pool"]
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(min_size=2, max_size=pool))
    async with app.open_async():
        await wire.serve(Peer(app), sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")


uvloop.run(main())
