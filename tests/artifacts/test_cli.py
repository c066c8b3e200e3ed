"""`postmill artifacts`: files in, out, looked over and deleted from a terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection

from postmill.cli.exits import ExitCode
from postmill.domain.settings_artifacts import ArtifactSettings
from tests.artifacts.support import files
from tests.cli.support import Answer, cli
from tests.support.databases import Database

BIG = os.urandom(3 << 20)


def run(database: Database, store: ArtifactSettings, *words: str, stdin: str | None = None) -> Answer:
    env = {"POSTMILL_ARTIFACTS__URL": str(store.address)}
    return cli("artifacts", *words, dsn=database.dsn, env=env, stdin=stdin)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_in_and_out(
    database: Database, pg: Connection[Any], store: ArtifactSettings, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "in.csv").write_bytes(BIG)
    reference = run(database, store, "put", "in.csv", "--for", "2d").out.strip()
    assert reference.startswith("artifact:")
    made = run(database, store, "put", "-", "--name", "typed.txt", "--json", stdin="typed").json
    assert made["artifact"]["content_type"] == "text/plain"
    listed = run(database, store, "list", "--json").json
    assert [(one["name"], one["size"]) for one in listed] == [("in.csv", len(BIG)), ("typed.txt", 5)]
    assert "in.csv" in run(database, store, "list").out

    there = run(database, store, "get", reference)
    assert (there.code, there.err) == (
        ExitCode.USAGE,
        "error: in.csv is there already\n  → name another file with --output\n",
    )
    (tmp_path / "sub").mkdir()
    assert run(database, store, "get", reference, "--output", "sub").code == 0
    assert (tmp_path / "sub" / "in.csv").read_bytes() == BIG
    assert run(database, store, "get", made["reference"], "-o", "-").out == "typed"
    assert run(database, store, "get", reference, "-o", "nowhere/x").code == ExitCode.FAILED
    assert sorted(os.listdir(tmp_path / "sub")) == ["in.csv"]

    assert run(database, store, "verify", reference, made["reference"]).code == 0
    (path,) = [path for path in files(folder) if reference.removeprefix("artifact:") in path]
    (folder / path).write_bytes(BIG[:-1])
    found = run(database, store, "verify", reference, made["reference"], "--json")
    assert (found.code, [one["ok"] for one in found.json]) == (1, [False, True])
    assert run(database, store, "get", reference, "-o", "damaged").code == ExitCode.FAILED
    assert not (tmp_path / "damaged").exists()

    gone = run(
        database, store, "delete", reference, made["reference"], reference, "--reason", "enough", "--json"
    )
    assert [one["status"] for one in gone.json] == ["deleted", "deleted"]
    assert run(database, store, "delete", reference).code == ExitCode.NOT_FOUND
    assert run(database, store, "list").out == "no artifacts\n"
    rows = pg.execute("select action, via, reason from postmill.audit_log order by id").fetchall()
    assert rows == [("artifacts.put", "cli", None)] * 2 + [("artifacts.delete", "cli", "enough")] * 2


def test_what_is_refused(database: Database, store: ArtifactSettings) -> None:
    for words, code in (
        (("put", "nowhere"), ExitCode.USAGE),
        (("put", "-"), ExitCode.USAGE),
        (("put", "-", "--name", "a/b"), ExitCode.USAGE),
        (("put", "-", "--name", "a", "--for", "soon"), ExitCode.USAGE),
        (("put", "-", "--name", "a", "--tenant", "nobody"), ExitCode.NOT_FOUND),
        (("get", "nonsense"), ExitCode.NOT_FOUND),
        (("verify",), ExitCode.USAGE),
        (("verify", "artifact:019c6d5e-2b7a-7c11-8abc-0242ac120002"), ExitCode.NOT_FOUND),
        (("list", "019c6d5e-2b7a-7c11-8abc-0242ac120002"), ExitCode.NOT_FOUND),
    ):
        answer = run(database, store, *words)
        assert answer.code == code, (words, answer)
        assert answer.err.startswith("error: "), words
    without = cli("artifacts", "put", "-", "--name", "a", dsn=database.dsn)
    assert without.code == ExitCode.USAGE
    assert "artifacts.url" in without.err


def test_the_store_that_postmill_up_left(database: Database, tmp_path: Path) -> None:
    """With its database, and with no other."""
    (tmp_path / ".postmill").mkdir()
    left = f"POSTMILL_DATABASE_URL='{database.dsn}'\nPOSTMILL_ARTIFACTS__URL='file://{tmp_path}/.postmill/artifacts'\n"
    (tmp_path / ".postmill" / "postmill.env").write_text(left)
    assert cli("artifacts", "put", "-", "--name", "a", stdin="x").code == 0
    assert len(files(tmp_path / ".postmill" / "artifacts")) == 1
    other = cli(
        "artifacts", "put", "-", "--name", "a", stdin="x", dsn=f"{database.dsn}&application_name=other"
    )
    assert other.code == ExitCode.USAGE
