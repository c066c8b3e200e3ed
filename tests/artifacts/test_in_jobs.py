"""`ctx.artifacts`: what a handler puts can be read, whoever runs it and wherever it is kept."""

from __future__ import annotations

import hashlib
import io
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from postmill import Context, job
from postmill.domain.settings_artifacts import ArtifactSettings
from tests.artifacts.support import files, rows
from tests.support.databases import Database
from tests.support.workers import enqueue, state, until, working

BIG = b"0123456789abcdef" * 200_000  # more than a chunk


def pieces() -> Iterator[bytes]:
    yield b"a"
    yield b""
    yield b"b" * 3


async def afar() -> AsyncIterator[bytes]:
    yield b"from"
    yield b"afar"


@job
async def writes(ctx: Context, path: str) -> dict[str, Any]:
    Path(path).write_bytes(BIG)
    made = [
        await ctx.artifacts.aput("data.bin", BIG),
        await ctx.artifacts.aput("text.txt", "žluť"),
        await ctx.artifacts.aput("of a path.csv", Path(path)),
        await ctx.artifacts.aput("file", io.BytesIO(b"opened"), content_type="application/x-own; v=1"),
        await ctx.artifacts.aput("pieces", pieces(), expires_in=timedelta(hours=1)),
        await ctx.artifacts.aput("afar", afar()),
        await ctx.artifacts.aput("empty", b""),
    ]
    assert [one.name for one in await ctx.artifacts.alist()] == sorted(one.name for one in made)
    assert await ctx.artifacts.aread("data.bin") == BIG
    assert await ctx.artifacts.aread(made[1].reference) == "žluť".encode()
    async with ctx.artifacts.open(made[0].id) as reading:
        assert reading.artifact == made[0]
        assert [len(piece) async for piece in reading] == [1 << 20] * 3 + [len(BIG) % (1 << 20)]
    return {one.name: [one.content_type, one.size, one.sha256] for one in made}


@job
def writes_too(ctx: Context) -> str:
    made = ctx.artifacts.put("pieces", pieces())
    with ctx.artifacts.open("pieces") as reading:
        assert (reading.read(2), reading.read(0), reading.read(1), reading.read()) == (b"ab", b"", b"b", b"b")
    with pytest.raises(TypeError, match="await aput"):
        ctx.artifacts.put("afar", afar())
    return made.reference


@job(isolation="process")
def in_a_child(ctx: Context, reference: str) -> int:
    ctx.artifacts.put("copy", ctx.artifacts.read(reference))
    return len(ctx.artifacts.list())


@pytest.mark.matrix
async def test_what_is_put_can_be_read(
    database: Database, apg: Any, store: ArtifactSettings, folder: Path, tmp_path: Path
) -> None:
    async with working(database.dsn, writes, writes_too, in_a_child, artifacts=store, modules=(__name__,)):
        first = await enqueue(apg, "writes", f'{{"path": "{tmp_path / "x.csv"}"}}')
        second = await enqueue(apg, "writes_too")
        await until(lambda: ended(apg, first, second))
        ((reference,),) = await rows(
            apg, "select result #>> '{}' from postmill.outcome where job_id = %s", second
        )
        third = await enqueue(apg, "in_a_child", f'{{"reference": "{reference}"}}')
        await until(lambda: ended(apg, third))
    ((result,),) = await rows(apg, "select result from postmill.outcome where job_id = %s", first)
    sums = {name: [kind, len(data), hashlib.sha256(data).hexdigest()] for name, kind, data in [
        ("data.bin", "application/octet-stream", BIG), ("text.txt", "text/plain", "žluť".encode()),
        ("of a path.csv", "text/csv", BIG), ("file", "application/x-own; v=1", b"opened"),
        ("pieces", "application/octet-stream", b"abbb"), ("afar", "application/octet-stream", b"fromafar"),
        ("empty", "application/octet-stream", b""),
    ]}  # fmt: skip
    assert result == sums
    seen = await rows(
        apg,
        "select name, attempt, extract(epoch from expires_at - created_at)::integer from postmill.artifacts"
        " where job_id = %s order by name collate \"C\"", first,
    )  # fmt: skip
    assert seen == [(name, 1, 3600 if name == "pieces" else 30 * 86400) for name in sorted(sums)]
    assert len(files(folder)) == len(sums) + 2
    assert {path.split("/")[0] for path in files(folder)}.isdisjoint({"incoming"})
    assert folder.stat().st_mode & 0o777 == 0o700


async def ended(conn: Any, *ids: Any) -> bool:
    found = [await state(conn, id) for id in ids]
    assert not {"dead_letter", "failed", "canceled"} & set(found), await rows(
        conn, "select error_class, error_message, stack from postmill.dead_letter"
    )
    return set(found) == {"succeeded"}
