"""`client.artifacts`: what an application keeps for its jobs, and what it reads of theirs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from postmill import AsyncClient, Client
from postmill.client.artifacts import Artifacts
from postmill.domain.artifact import Artifact
from postmill.domain.errors import (
    ArtifactGone,
    NotFound,
)
from tests.artifacts.support import BIG, URL, files
from tests.support.databases import Database


def test_kept_read_listed_deleted(artifacts: Artifacts, pg: Connection[Any], folder: Path) -> None:
    made = artifacts.put("in.bin", BIG, content_type="application/x-in", expires_in=60)
    again = artifacts.put("in.bin", b"another of that name")
    assert (made.size, made.sha256, made.job_id) == (len(BIG), hashlib.sha256(BIG).hexdigest(), None)
    assert artifacts.list(None) == sorted([made, again], key=lambda one: one.id)
    assert [artifacts.get(id) for id in (made.id, str(made.id), made.reference)] == [made] * 3
    assert artifacts.read(made.id) == BIG
    with artifacts.open(made.reference) as reading:
        assert reading.read(10) == BIG[:10]
        assert b"".join(reading) == BIG[10:]
    assert len(files(folder)) == 2
    artifacts.delete(made.id, reason="wrong file", actor_id="ada")
    for act in (artifacts.get, artifacts.read, artifacts.delete):
        with pytest.raises(NotFound):
            act(made.id)
    assert artifacts.list(None) == [again]
    audited = pg.execute(
        "select action, actor_id, target, before ->> 'sha256', after ->> 'sha256', reason from postmill.audit_log order by id"
    ).fetchall()
    assert audited[0][:1] + audited[0][2:5] == ("artifacts.put", str(made.id), None, made.sha256)
    assert audited[2] == ("artifacts.delete", "ada", str(made.id), made.sha256, None, "wrong file")


def test_what_is_not_there(artifacts: Artifacts) -> None:
    for id in (uuid4(), "no id", "artifact:x"):
        with pytest.raises(NotFound):
            artifacts.read(id)
    for job in (uuid4(), "no id"):
        with pytest.raises(NotFound):
            artifacts.list(job)
    with pytest.raises(NotFound, match="no such tenant"):
        artifacts.put("a", b"", tenant=uuid4())


def test_an_expired_one_says_so(artifacts: Artifacts, pg: Connection[Any]) -> None:
    made = artifacts.put("a", b"x")
    pg.execute("update postmill.artifact set expires_at = postmill.now()")
    for act in (artifacts.get, artifacts.read):
        with pytest.raises(ArtifactGone, match="expired at"):
            act(made.id)
    assert artifacts.list(None) == []


async def test_the_same_for_those_who_await(
    database: Database, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv(URL, f"file://{folder}")
    async with AsyncClient(database.dsn) as client:
        made = await client.artifacts.put("in.bin", BIG)
        assert await client.artifacts.get(made.id) == made
        assert await client.artifacts.read(made.reference) == BIG
        async with client.artifacts.open(made.id) as reading:
            assert b"".join([chunk async for chunk in reading]) == BIG
        with pytest.raises(TypeError, match="async with"), client.artifacts.open(made.id):
            pass
        await client.artifacts.delete(made.id)
        assert await client.artifacts.list(None) == []


def of(made: Artifact) -> tuple[UUID, str]:
    return made.id, made.sha256


@pytest.mark.matrix
def test_in_a_store_without_folders(
    database: Database, pg: Connection[Any], memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL, memory.address)
    with Client(database.dsn) as client:
        made = client.artifacts.put("a.txt", BIG)
        assert client.artifacts.read(made.id) == BIG
        assert pg.execute("select id, sha256 from postmill.artifacts").fetchall() == [of(made)]
