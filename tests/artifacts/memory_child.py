"""Puts 100 MB from an iterator and reads them again; prints by how many KiB the process has grown."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from collections.abc import Iterator

from postmill import AsyncClient, Client
from postmill.domain.artifact import Artifact

CHUNK, CHUNKS = 1 << 20, 100


def pieces() -> Iterator[bytes]:
    for _ in range(CHUNKS):
        yield os.urandom(16) * (CHUNK // 16)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def read(made: Artifact) -> int:
    async with AsyncClient() as client, client.artifacts.open(made.id) as reading:
        return sum([len(chunk) async for chunk in reading])


def main() -> None:
    with Client() as client:
        client.artifacts.read(client.artifacts.put("warm", b"up").id)
        before = peak()
        made = client.artifacts.put("big", pieces())
    assert asyncio.run(read(made)) == CHUNK * CHUNKS
    sys.stdout.write(f"{peak() - before}\n")


if __name__ == "__main__":
    main()
