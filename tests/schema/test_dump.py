"""The committed dump says what the migrations make."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from postmill.local.binaries import find_bindir
from postmill.local.server import LocalServer
from postmill.schema.dump import DumpFailed, dump_schema, normalised
from postmill.schema.runner import migrate
from tests.support.databases import Database
from tests.support.postgres import bindir


def test_the_committed_dump_is_what_the_migrations_make(tmp_path: Path) -> None:
    """Always on PostgreSQL 18: the migrations make a few things in another way on older versions."""
    committed = (files("postmill") / "sql" / "schema.sql").read_text(encoding="utf-8")
    with LocalServer(tmp_path, bindir=find_bindir(major=18)) as server:
        migrate(server.dsn())
        dump = dump_schema(server.dsn(), find_bindir(major=18))
    assert dump == committed, "the schema has changed; run: make schema"


def test_a_dump_is_the_same_each_time_and_without_partitions(database: Database) -> None:
    first, second = (dump_schema(database.dsn, bindir()) for _ in range(2))
    assert first == second
    assert "CREATE TABLE postmill.job (" in first
    assert "ATTACH PARTITION" not in first
    assert "Dumped from" not in first


def test_a_dump_that_fails_carries_the_words(database: Database) -> None:
    with pytest.raises(DumpFailed, match="no matching schemas"):
        dump_schema(database.dsn, bindir(), "windmill")


def test_noise_goes_and_headings_are_short() -> None:
    head = "--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\nSET x = 1;\n\n\n"
    table = "--\n-- Name: job; Type: TABLE; Schema: p; Owner: -\n--\n\nCREATE TABLE p.job (\n);\n"
    assert normalised(head + table) == "-- TABLE job\n\nCREATE TABLE p.job (\n);\n"
