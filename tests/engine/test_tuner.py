"""Slots that follow their work in a real worker, and what is told of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import psycopg

from postmill.domain.job_type import job
from postmill.domain.slot_range import SlotRange
from postmill.engine.pressure import Pressure, PressureGauge
from postmill.engine.work import QueueSlots
from postmill.store.workers import list_workers
from postmill.telemetry.bus import Bus
from postmill.telemetry.events import SlotsChanged
from tests.support.workers import enqueue, until, working

Conn = psycopg.AsyncConnection[Any]


def machine(root: Path, *, cpu: float, used: int) -> PressureGauge:
    """A container with 1000 bytes of memory, of which 200 are page cache, on a larger machine."""
    group = root / "sys/fs/cgroup/kubepods/pod1"
    files = {
        root / "proc/self/cgroup": "0::/kubepods/pod1\n",
        root / "proc/meminfo": "MemTotal: 100000 kB\nMemAvailable: 90000 kB\n",
        root / "sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
        root / "sys/fs/cgroup/kubepods/memory.max": "max\n",
        root / "sys/fs/cgroup/kubepods/memory.current": "5000\n",
        group / "memory.max": "1000\n",
        group / "memory.current": f"{used}\n",
        group / "memory.stat": "anon 1\ninactive_file 200\n",
        group / "cpu.pressure": f"some avg10={cpu} avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00\n",
    }
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return PressureGauge(root)


def test_pressure_is_read_from_the_innermost_limit(tmp_path: Path) -> None:
    assert machine(tmp_path, cpu=12.5, used=900).read() == Pressure(cpu=0.125, memory=0.7)
    (tmp_path / "sys/fs/cgroup/kubepods/pod1/memory.max").write_text("max\n")
    (tmp_path / "sys/fs/cgroup/kubepods/pod1/cpu.pressure").unlink()
    (tmp_path / "proc/loadavg").write_text("0.00 0.00 0.00 1/2 3\n")
    told = PressureGauge(tmp_path).read()
    assert told.cpu == 0.0
    assert told.memory is not None
    assert abs(told.memory - 0.1) < 1e-9
    assert PressureGauge(tmp_path / "nothing").read() == Pressure()
    assert PressureGauge().read().memory is not None


async def test_slots_follow_the_work(dsn: str, apg: Conn, tmp_path: Path) -> None:
    go = asyncio.Event()
    most = 0

    @job
    async def held() -> None:
        nonlocal most
        most = max(most, len(worker._shop.executor.running))  # type: ignore[union-attr]
        await go.wait()

    bus, seen = Bus(), []
    bus.subscribe(seen.append, SlotsChanged)
    queues: Any = {"default": QueueSlots("default", SlotRange(2, 8))}
    async with working(dsn, held, queues=queues, bus=bus) as worker:
        shop = worker._shop
        assert shop is not None
        shop.tuner._gauge = machine(tmp_path, cpu=5, used=300)
        for _ in range(12):
            await enqueue(apg, "held")
        counters = worker.counters.gauges

        async def look(slots: int) -> None:
            shop.tuner.look()
            await until(lambda: worker.queues["default"].slots == slots)

        for slots in (3, 4, 5):
            await until(lambda: len(shop.executor.running) == worker.queues["default"].slots)
            await until(lambda: shop.claimer.lanes["default"].has_work)
            await look(slots)
        await until(lambda: len(shop.executor.running) == 5)
        machine(tmp_path, cpu=5, used=1150)
        await look(3)
        assert len(shop.executor.running) == 5, "what runs is left alone"
        assert [(event.before, event.slots, event.because) for event in seen][-2:] == [
            (4, 5, "backlog"),
            (5, 3, "memory"),
        ]
        assert counters.slots()["default"].size == 3
        assert counters.ranges() == {"default": (2, 8)}
        assert counters.pressure() == {"cpu": 0.05, "memory": 0.95}
        assert worker._lessor is not None
        worker._lessor.poke()

        async def told() -> bool:
            rows = await (
                await apg.execute("select slots, report -> 'ranges' from postmill.worker")
            ).fetchall()
            held = {"because": "memory", "now": 0.95}
            return rows == [
                ({"default": 3}, {"default": {"least": 2, "most": 8, "because": "memory", "held": held}})
            ]

        await until(told)
        statement = list_workers(schema="postmill")
        cursor = psycopg.AsyncRawCursor(apg)
        await cursor.execute(statement.sql.encode(), statement.args)
        (view,) = statement.decode(await cursor.fetchall())
        assert view.slots_text == "default=3 (2..8; held: memory 95 % in use)"
        go.set()
        await until(lambda: worker.counters.of("held", "default").succeeded == 12)
    assert most <= 5
    assert json.dumps(view.report)
