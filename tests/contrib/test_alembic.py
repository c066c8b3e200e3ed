"""Alembic: revisions that carry Postmill's migrations, autogenerate that leaves its tables alone."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.util import CommandError

from postmill.contrib.alembic import leave_postmill
from postmill.domain.errors import PostmillError
from postmill.schema.check import check
from postmill.schema.migration import known_migrations
from postmill.schema.runner import migrate
from tests.support.databases import Database

ENV = """
import sqlalchemy as sa
from alembic import context
from postmill.contrib.alembic import leave_postmill

metadata = sa.MetaData()
sa.Table("orders", metadata, sa.Column("id", sa.Integer, primary_key=True))
if context.is_offline_mode():
    context.configure(dialect_name="postgresql", target_metadata=metadata)
    with context.begin_transaction():
        context.run_migrations()
else:
    with context.config.attributes["engine"].connect() as connection:
        context.configure(connection=connection, target_metadata=metadata, include_schemas=True,
                          include_name=leave_postmill())
        with context.begin_transaction():
            context.run_migrations()
"""
LAST = known_migrations()[-1].version


def project(folder: Path, engine: Any = None, out: Any = None) -> Config:
    config = Config(folder.with_suffix(".ini"), output_buffer=out, stdout=io.StringIO())
    config.set_main_option("script_location", str(folder))
    config.set_main_option("path_separator", "os")
    config.attributes["engine"] = engine
    if not folder.exists():
        command.init(config, str(folder))
        (folder / "env.py").write_text(ENV)
    return config


def test_a_project(empty_database: Database, tmp_path: Path) -> None:
    engine = sa.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(empty_database.dsn), poolclass=sa.NullPool
    )
    config = project(tmp_path / "alembic", engine)
    with empty_database.connect() as conn:
        migrate(conn, migrations=known_migrations()[:3])
        made: Any = command.revision(config, "first", autogenerate=True)
        revision = Path(made.path).read_text()
        assert f"op.migrate_postmill(to={LAST}, since=3)" in revision
        assert "op.keep_postmill()" in revision
        assert "drop_table" not in revision.partition("def downgrade")[0]
        Path(made.path).write_text(
            revision.replace(f"to={LAST}", "to=4").replace(
                "op.create_table(", "broken()\n    op.create_table("
            )
        )
        with pytest.raises(NameError):
            command.upgrade(config, "head")
        assert check(conn).version == 3  # in one transaction
        Path(made.path).write_text(revision)
        command.upgrade(config, "head")
        check(conn).require()
        command.check(config)  # nothing is left to do
        command.downgrade(config, "base")
        check(conn).require()
        command.upgrade(config, "head")  # nothing twice
        Path(made.path).write_text(revision.replace(f"to={LAST}", "to=9999"))
        command.downgrade(config, "base")
        with pytest.raises(PostmillError, match=f"up to {LAST}; install"):
            command.upgrade(config, "head")
        Path(made.path).write_text(revision)
        conn.execute("create table stray (id int)")
        command.upgrade(config, "head")
        with pytest.raises(CommandError, match="stray"):
            command.check(config)


def test_offline_it_is_a_script(empty_database: Database, tmp_path: Path) -> None:
    out = io.StringIO()
    config = project(tmp_path / "alembic", out=out)
    made: Any = command.revision(config, "first")
    path = Path(made.path)
    path.write_text(path.read_text().replace("pass", "op.migrate_postmill(to=3, since=1)", 1))
    command.upgrade(config, "head", sql=True)
    with psycopg.connect(empty_database.dsn, autocommit=True) as conn:
        migrate(conn, migrations=known_migrations()[:1])
        conn.execute(out.getvalue().encode())
        assert check(conn).version == 3


def test_what_is_left_alone() -> None:
    asked: list[object] = []

    def others(name: object, kind: str, parents: object) -> bool:
        asked.append(name)
        return name != "secret"

    include = leave_postmill(others)
    assert not include("postmill", "schema", {})
    assert not include("ready", "table", {"schema_name": "postmill"})
    assert include(None, "schema", {})
    assert not include("secret", "table", {"schema_name": None})
    assert leave_postmill(schema="work")("postmill", "schema", {})
    assert asked == [None, "secret"]
