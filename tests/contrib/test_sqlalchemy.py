"""Jobs of a session's commit: with its objects' ids, its savepoints, and two phases."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession, async_scoped_session, create_async_engine
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    mapped_column,
    scoped_session,
    sessionmaker,
)

from postmill import NewJob
from postmill.contrib.sqlalchemy import enqueue_on_commit
from postmill.domain.errors import SomeRefused
from postmill.testing import assert_enqueued, assert_not_enqueued, enqueued
from tests.contrib.jobs import send_receipt
from tests.support.databases import Database


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)


@pytest.fixture
def engine(database: Database) -> Iterator[Engine]:
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(database.dsn))
    Base.metadata.create_all(engine)
    yield engine
    engine.dispose()


def test_with_the_commit_or_not_at_all(engine: Engine, database: Database) -> None:
    with database.connect() as conn:
        with Session(engine) as session, session.begin():
            order = Order()
            session.add(order)
            enqueue_on_commit(session, lambda: send_receipt.new(order=order.id))
            enqueue_on_commit(session, send_receipt.new(order=0))
            assert_not_enqueued(session)
        assert assert_enqueued(conn, send_receipt, count=2).payload == {"order": 0}
        assert_enqueued(conn, send_receipt, {"order": 1})
        with Session(engine) as session:
            enqueue_on_commit(session, send_receipt.new(order=2))
            session.rollback()
            session.add(Order())
            session.commit()
            with session.begin_nested() as savepoint:
                enqueue_on_commit(session, send_receipt.new(order=3))
                savepoint.rollback()
            enqueue_on_commit(session, send_receipt.new(order=4))
            with session.begin_nested():
                enqueue_on_commit(session, send_receipt.new(order=5))
            session.commit()
            session.commit()  # nothing twice
        assert sorted(view.payload["order"] for view in enqueued(conn)) == [0, 1, 4, 5]
        registry = scoped_session(sessionmaker(engine))
        enqueue_on_commit(registry, NewJob.of("send_reciept"))
        registry.add(Order())
        with pytest.raises(SomeRefused):
            registry.commit()
        registry.rollback()
        registry.add(Order())
        registry.commit()
        registry.remove()
        assert len(enqueued(conn)) == 4
        assert conn.execute("select count(*) from orders").fetchone() == (3,)


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
async def test_of_an_async_session(database: Database, driver: str) -> None:
    parts = psycopg.conninfo.conninfo_to_dict(database.dsn)
    parts["database" if driver == "asyncpg" else "dbname"] = parts.pop("dbname")
    engine = create_async_engine(f"postgresql+{driver}://", connect_args=parts)
    async with engine.begin() as setup:
        await setup.run_sync(Base.metadata.create_all)
    async with AsyncSession(engine) as session, session.begin():
        order = Order()
        session.add(order)
        enqueue_on_commit(session, lambda: send_receipt.new(order=order.id))
    registry = async_scoped_session(lambda: AsyncSession(engine), scopefunc=lambda: None)  # type: ignore[arg-type]
    enqueue_on_commit(registry, send_receipt.new(order=9))
    await registry.execute(text("select 1"))
    await registry.commit()
    await registry.remove()
    await engine.dispose()
    with database.connect() as conn:
        assert [view.payload["order"] for view in enqueued(conn)] == [1, 9]


def test_two_phases_wake_workers_after_the_commit(engine: Engine, database: Database) -> None:
    with database.connect() as conn:
        conn.execute("listen postmill")
        conn.execute("select postmill.doze(gen_random_uuid(), array['default'], 60)")
        with Session(engine, twophase=True) as session:
            session.add(Order())
            enqueue_on_commit(session, send_receipt.new(order=1))
            session.commit()
        assert_enqueued(conn, send_receipt, count=1)
        assert any("default" in note.payload for note in conn.notifies(timeout=5, stop_after=1))
        with Session(engine, twophase=True) as session:
            enqueue_on_commit(session, send_receipt.new(order=2))
            session.rollback()
        assert_enqueued(conn, send_receipt, count=1)
