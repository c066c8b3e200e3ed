"""Applications, one per kind of connection: how each begins, ends and reads. Nothing here knows postmill's tables.

SQLAlchemy is imported where it is used: every test process reads this file, and few run these tests.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from uuid import UUID

import asyncpg
import django
import django.conf
import django.db
import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from postmill.client import (
    acancel,
    aenqueue,
    aenqueue_many,
    apublish,
    cancel,
    enqueue,
    enqueue_many,
    publish,
)
from postmill.domain.event import Published
from postmill.domain.job import Enqueued, NewJob
from postmill.store.jobs import Canceled


class Caller:
    """What the contract does with a connection. `conn` is what the application hands to postmill."""

    awaits: ClassVar[bool] = False
    conn: Any

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    async def open(self) -> None:
        """Connect, as an application of this kind does."""
        raise NotImplementedError

    async def close(self) -> None:
        """Give back everything."""
        raise NotImplementedError

    async def begin(self) -> None:
        """Begin a transaction, where that is not done by the first statement."""

    async def commit(self) -> None:
        """Commit the transaction."""
        self.conn.commit()

    async def rollback(self) -> None:
        """Roll the transaction back."""
        self.conn.rollback()

    async def execute(self, statement: str) -> Any:
        """Execute a statement of the application's own in the same transaction; its result, if it has one."""
        raise NotImplementedError

    async def one(self) -> int:
        """`select 1` in the same transaction: it must be usable."""
        return int(await self.execute("select 1"))

    async def enqueue(self, job: NewJob, **options: Any) -> Enqueued:
        """Enqueue by the function that fits."""
        if self.awaits:
            return await aenqueue(self.conn, job, **options)
        return enqueue(self.conn, job, **options)

    async def enqueue_many(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Enqueue many by the function that fits."""
        return await aenqueue_many(self.conn, jobs) if self.awaits else enqueue_many(self.conn, jobs)

    async def publish(self, name: str, context: Mapping[str, object], **options: Any) -> Published:
        """Publish by the function that fits."""
        if self.awaits:
            return await apublish(self.conn, name, context, **options)
        return publish(self.conn, name, context, **options)

    async def cancel(self, id: UUID | str, **options: Any) -> Canceled:
        """Cancel by the function that fits."""
        return await acancel(self.conn, id, **options) if self.awaits else cancel(self.conn, id, **options)


class Psycopg(Caller):
    """With a row factory of its own, which must not matter."""

    async def open(self) -> None:
        self.conn = psycopg.connect(self.dsn, row_factory=dict_row)

    async def close(self) -> None:
        self.conn.close()

    async def execute(self, statement: str) -> Any:
        cursor = self.conn.execute(statement)
        return next(iter(cursor.fetchone().values())) if cursor.description else None


class PsycopgAsync(Caller):
    awaits = True

    async def open(self) -> None:
        self.conn = await psycopg.AsyncConnection.connect(self.dsn)

    async def close(self) -> None:
        await self.conn.close()

    async def commit(self) -> None:
        await self.conn.commit()

    async def rollback(self) -> None:
        await self.conn.rollback()

    async def execute(self, statement: str) -> Any:
        cursor = await self.conn.execute(statement)
        return (await cursor.fetchone())[0] if cursor.description else None


class Asyncpg(Caller):
    awaits = True

    async def open(self) -> None:
        self.conn = await asyncpg.connect(self.dsn)
        self.transaction: Any = None

    async def close(self) -> None:
        if self.transaction is not None:
            await self.transaction.rollback()
        await self.conn.close()

    async def begin(self) -> None:
        self.transaction = self.conn.transaction()
        await self.transaction.start()

    async def commit(self) -> None:
        await self.transaction.commit()
        self.transaction = None

    async def rollback(self) -> None:
        await self.transaction.rollback()
        self.transaction = None

    async def execute(self, statement: str) -> Any:
        return await self.conn.fetchval(statement)


class AsyncpgPool(Asyncpg):
    """A connection that a pool lends is a proxy of another class."""

    async def open(self) -> None:
        self.pool = await asyncpg.create_pool(self.dsn, min_size=1, max_size=1)
        self.conn = await self.pool.acquire()
        self.transaction = None

    async def close(self) -> None:
        if self.transaction is not None:
            await self.transaction.rollback()
        await self.pool.release(self.conn)
        await self.pool.close()


class SqlalchemyConnection(Caller):
    async def open(self) -> None:
        import sqlalchemy as sa

        self.engine = sa.create_engine(
            "postgresql+psycopg://", creator=lambda: psycopg.connect(self.dsn), poolclass=sa.NullPool
        )
        self.conn = self.engine.connect()

    async def close(self) -> None:
        self.conn.close()
        self.engine.dispose()

    async def execute(self, statement: str) -> Any:
        from sqlalchemy import text

        result = self.conn.execute(text(statement))
        return result.scalar_one() if result.returns_rows else None


class SqlalchemySession(SqlalchemyConnection):
    async def open(self) -> None:
        await super().open()
        self.conn.close()
        from sqlalchemy.orm import Session

        self.conn = Session(self.engine)


class SqlalchemyAsyncSession(Caller):
    awaits = True
    driver = "psycopg"

    async def open(self) -> None:
        from sqlalchemy import NullPool
        from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

        parts = conninfo_to_dict(self.dsn)
        parts["database" if self.driver == "asyncpg" else "dbname"] = parts.pop("dbname")
        url = f"postgresql+{self.driver}://"
        self.engine = create_async_engine(url, connect_args=parts, poolclass=NullPool)
        self.conn = AsyncSession(self.engine)

    async def close(self) -> None:
        await self.conn.close()
        await self.engine.dispose()

    async def commit(self) -> None:
        await self.conn.commit()

    async def rollback(self) -> None:
        await self.conn.rollback()

    async def execute(self, statement: str) -> Any:
        from sqlalchemy import text

        result = await self.conn.execute(text(statement))
        return result.scalar_one() if result.returns_rows else None


class SqlalchemyAsyncSessionAsyncpg(SqlalchemyAsyncSession):
    driver = "asyncpg"


class SqlalchemyAsyncConnection(SqlalchemyAsyncSession):
    async def open(self) -> None:
        await super().open()
        await self.conn.close()
        self.conn = await self.engine.connect()


class DjangoAtomic(Caller):
    async def open(self) -> None:
        # The tests' loop runs nothing beside this caller.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
        if not django.conf.settings.configured:
            engine = {"ENGINE": "django.db.backends.postgresql", "NAME": "none"}
            django.conf.settings.configure(DATABASES={"default": engine}, USE_TZ=True)
            django.setup()
        parts = conninfo_to_dict(self.dsn)
        self.conn = django.db.connection
        django.db.connections["default"].settings_dict.update(
            NAME=parts["dbname"], HOST=parts["host"], PORT=parts["port"], USER=parts["user"]
        )
        self.atomic: Any = None

    async def close(self) -> None:
        if self.atomic is not None:
            await self.rollback()
        self.conn.close()
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]

    async def begin(self) -> None:
        self.atomic = django.db.transaction.atomic()
        self.atomic.__enter__()

    async def commit(self) -> None:
        self.atomic.__exit__(None, None, None)
        self.atomic = None

    async def rollback(self) -> None:
        self.conn.set_rollback(True)
        self.atomic.__exit__(None, None, None)
        self.atomic = None

    async def execute(self, statement: str) -> Any:
        with self.conn.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchone()[0] if cursor.description else None


CALLERS: tuple[type[Caller], ...] = (
    Psycopg,
    PsycopgAsync,
    Asyncpg,
    AsyncpgPool,
    SqlalchemyConnection,
    SqlalchemySession,
    SqlalchemyAsyncConnection,
    SqlalchemyAsyncSession,
    SqlalchemyAsyncSessionAsyncpg,
    DjangoAtomic,
)
