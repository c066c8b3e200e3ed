"""Load on an HTTP address from a process of its own: closed loop (each connection sends as soon as it is answered) or
open loop (requests at fixed moments, whatever the answers do; latency counts from the moment that was planned).

    python -m benchmarks.api.load --port 8700 --key pm_… --mode closed --connections 64 --seconds 20
    python -m benchmarks.api.load --port 8700 --key pm_… --mode open --rate 500 --connections 200 --seconds 20

Prints one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from time import perf_counter, process_time

import uvloop

from benchmarks.api.client import Connection, connect, timed


def request(options: argparse.Namespace) -> bytes:
    """The request that is sent again and again."""
    body = b"" if options.method == "GET" else options.body.encode()
    head = (
        f"{options.method} {options.path} HTTP/1.1\r\nHost: {options.host}:{options.port}\r\n"
        f"Authorization: Bearer {options.key}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def closed(options: argparse.Namespace, seen: list[float], statuses: Counter[int]) -> None:
    sent = request(options)
    connections = [await connect(options.host, options.port) for _ in range(options.connections)]
    end = perf_counter() + options.seconds

    async def one(connection: Connection) -> None:
        while perf_counter() < end:
            took, status = await timed(connection, sent)
            seen.append(took)
            statuses[status] += 1

    await asyncio.gather(*map(one, connections))
    for connection in connections:
        connection.close()


async def opened(options: argparse.Namespace, seen: list[float], statuses: Counter[int]) -> None:
    sent = request(options)
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(options.connections):
        free.put_nowait(await connect(options.host, options.port))
    began = perf_counter()
    tasks = set()

    async def one(planned: float) -> None:
        connection = await free.get()
        _, status = await timed(connection, sent)
        seen.append(perf_counter() - planned)
        statuses[status] += 1
        free.put_nowait(connection)

    for n in range(int(options.rate * options.seconds)):
        planned = began + n / options.rate
        delay = planned - perf_counter()
        if delay > 0:
            await asyncio.sleep(delay)
        task = asyncio.create_task(one(planned))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.gather(*tasks)
    while not free.empty():
        free.get_nowait().close()


def percentile(values: list[float], share: float) -> float:
    """In milliseconds."""
    return round(sorted(values)[min(len(values) - 1, int(len(values) * share))] * 1000, 2)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--mode", choices=["closed", "open"], required=True)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rate", type=float, default=500.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--method", default="POST")
    parser.add_argument("--path", default="/api/v1/jobs")
    parser.add_argument(
        "--body", default='{"definition_key": "plain", "payload": {"item": 4711, "text": "some words"}}'
    )
    options = parser.parse_args()
    seen: list[float] = []
    statuses: Counter[int] = Counter()
    began = perf_counter()
    uvloop.run({"closed": closed, "open": opened}[options.mode](options, seen, statuses))
    seconds = perf_counter() - began
    figures = {
        "requests": len(seen),
        "per_second": round(len(seen) / seconds, 1),
        "p50_ms": percentile(seen, 0.5),
        "p95_ms": percentile(seen, 0.95),
        "p99_ms": percentile(seen, 0.99),
        "statuses": dict(statuses),
        "own_cpu_us_each": round(process_time() / max(1, len(seen)) * 1e6, 1),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
