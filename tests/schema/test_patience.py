"""A migration that cannot have a table lets those behind it through."""

from __future__ import annotations

import threading

import pytest

from postmill.domain.errors import PostmillError
from postmill.schema.check import check
from postmill.schema.patience import SchemaBusy
from postmill.schema.runner import migrate
from postmill.schema.status import MigrationBreaking
from tests.schema.conftest import Write
from tests.support.databases import Database


def test_it_steps_back_from_a_table_and_says_from_whom(empty_database: Database, write: Write) -> None:
    migrate(empty_database.dsn, migrations=write())
    more = write("-- postmill: safe\nalter table {schema}.step add column word text;")
    told: list[str] = []
    stepped_back = threading.Event()

    def waiting(text: str) -> None:
        told.append(text)
        stepped_back.set()

    with empty_database.connect() as holder, empty_database.connect() as worker:
        pid = holder.info.backend_pid
        with holder.transaction():
            holder.execute("select from postmill.step")  # as an open cursor of somebody's report would
            with pytest.raises(SchemaBusy, match=rf"0002_step could not .* process {pid} "):
                migrate(empty_database.dsn, migrations=more, patience=0)
            assert check(worker, known=more).version == 1
            run = threading.Thread(
                target=migrate, args=(empty_database.dsn,), kwargs={"migrations": more, "waiting": waiting}
            )
            run.start()
            assert stepped_back.wait(30)
            # Between its tries, and by its waiting two seconds at most, others write.
            worker.execute("set lock_timeout = '10s'")
            worker.execute("insert into postmill.step values (2)")
        run.join(30)
        assert check(worker, known=more).version == 2
        assert worker.execute("select n, word from postmill.step order by n").fetchall() == [
            (1, None),
            (2, None),
        ]
    [text] = told
    assert f"process {pid} (" in text
    assert "idle in transaction" in text


def test_only_safe_ones_are_asked_for(empty_database: Database, write: Write) -> None:
    """Where something runs already: a new schema holds nobody up, whatever its migrations are."""
    more = write("-- postmill: breaking\ninsert into {schema}.step values (2);")
    later = write(
        "-- postmill: breaking\ninsert into {schema}.step values (2);",
        "-- postmill: safe\ninsert into {schema}.step values (3);",
        "-- postmill: breaking\ninsert into {schema}.step values (4);",
    )
    assert len(migrate(empty_database.dsn, migrations=more, only_safe=True)) == 2
    with pytest.raises(MigrationBreaking, match=r"0004_step is breaking: .* stop workers") as fault:
        migrate(empty_database.dsn, migrations=later, only_safe=True)
    assert isinstance(fault.value, PostmillError)
    with empty_database.connect() as conn:
        assert conn.execute("select n from postmill.step order by n").fetchall() == [(1,), (2,)]
    assert len(migrate(empty_database.dsn, migrations=later[:3], only_safe=True)) == 1
