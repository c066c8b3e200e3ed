"""Artifacts in a bucket: the stand-in speaks S3 on a real port."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import fsspec
import pytest

from postmill import Client
from postmill.domain.errors import ArtifactDamaged, ArtifactStoreFailed
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.telemetry.events import ArtifactsCleared
from tests.artifacts.rounds import rounds
from tests.artifacts.support import BIG, OPTIONS, URL, Conn
from tests.support.bucket import bucket
from tests.support.databases import Database

LARGE = BIG * 3
"""More than one part of an upload."""


def broken() -> Iterator[bytes]:
    yield LARGE
    raise ValueError("the source ends early")


async def test_kept_read_and_cleared_away(
    database: Database, apg: Conn, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bucket(free_port, monkeypatch) as place:
        fs: Any = fsspec.filesystem("s3", **place["options"])
        monkeypatch.setenv(OPTIONS, json.dumps(place["options"]))

        def files() -> list[str]:
            fs.invalidate_cache()
            return sorted(str(path).rpartition("/")[2] for path in fs.find(place["url"]))

        monkeypatch.setenv(URL, place["url"])
        with Client(database.dsn) as client:
            kept = client.artifacts
            large, small, empty = kept.put("large", LARGE), kept.put("small", b"x"), kept.put("empty", b"")
            assert [kept.read(one.id) for one in (large, small, empty)] == [LARGE, b"x", b""]
            with kept.open(large.id) as reading:
                assert reading.read(10) == LARGE[:10]
            with pytest.raises(ValueError, match="ends early"):
                kept.put("broken", broken())
            assert files() == sorted(str(one.id) for one in (large, small, empty))
            assert (
                fs.call_s3("list_multipart_uploads", Bucket=place["url"].split("/")[2]).get("Uploads", [])
                == []
            )
            # What somebody changed in the bucket is found out.
            (path,) = [path for path in fs.find(place["url"]) if path.endswith(str(small.id))]
            fs.pipe_file(path, b"y")
            with pytest.raises(ArtifactDamaged, match="was put with"):
                kept.read(small.id)
            # Deleted ones go with the next round, and so does what never became one.
            await apg.execute("set postmill.clock_offset = '-2 days'")
            row = await (await apg.execute("select postmill.new_id()")).fetchone()
            await apg.execute("reset postmill.clock_offset")
            assert row is not None
            fs.pipe_file(f"{place['url']}/incoming/{row[0]}", b"half")
            kept.delete(large.id)
            async with rounds(database, apg, ArtifactSettings.model_validate(place)) as told:
                assert await told.round() == [ArtifactsCleared(1), ArtifactsCleared(0, orphans=1)]
            assert files() == sorted(str(one.id) for one in (small, empty))
        # A misspelled bucket is told of without the key, and is not made.
        monkeypatch.setenv(URL, "s3://no-such-bucket/kept")
        with Client(database.dsn) as client:
            with pytest.raises(ArtifactStoreFailed, match="bucket does not exist") as failed:
                client.artifacts.put("a", b"x")
            assert place["options"]["secret"] not in str(failed.value)
        assert not fs.exists("no-such-bucket")
