"""The order among queues: said in code or in the settings, kept with the queue, and followed by every kind of worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection

from postmill import bind
from postmill.cli.plan import make_plan
from postmill.domain.errors import DefinitionError
from postmill.domain.job_type import job
from postmill.domain.queue import Queue
from postmill.domain.registry import Registry
from postmill.domain.settings_load import load
from postmill.engine.worker import Worker
from postmill.store.queues import list_queues, read_queues, register_queues

URGENT, USUAL = Queue("urgent", priority=0), Queue("usual", owner="Ada")


@job("page", queue=URGENT)
def page() -> None: ...


@job("write", queue=USUAL)
def write() -> None: ...


@job("sweep", queue="sweeping")
def sweep() -> None: ...


def test_code_settings_and_neither(tmp_path: Path) -> None:
    registry = Registry.collect(page, write, sweep)
    assert [registry.priority_of(name) for name in registry.queues] == [0, 100, 100]
    worker = Worker("dbname=none", registry, dict.fromkeys(registry.queues, 1))
    assert {name: slots.priority for name, slots in worker.queues.items()} == {
        "urgent": 0,
        "usual": 100,
        "sweeping": 100,
    }
    said = {"queues": {"USUAL": {"priority": 7}, "urgent": {"slots": 3}}}
    settings = load(env={}, folder=tmp_path, overrides=said)
    plan = make_plan([__name__], (), 1, settings)
    assert {name: slots.priority for name, slots in plan.queues(0).items()} == {
        "urgent": 0,
        "usual": 7,
        "sweeping": 100,
    }
    own = Registry.collect(page).with_queues(
        load(env={}, folder=tmp_path, overrides={"queues": {"urgent": {"priority": 9}}}).declared_queues
    )
    assert own.priority_of("urgent") == 9, "what the settings say wins"
    for wrong in ("0", 1.5, True, 2**31):
        with pytest.raises(DefinitionError, match="priority is a whole number"):
            Queue("urgent", priority=wrong)  # type: ignore[arg-type]


def test_it_is_kept_and_shown(pg: Connection[Any]) -> None:
    """HTTP workers read it there; pages, lists and the API show queues in its order."""
    bind.run(pg, register_queues([USUAL, URGENT, Queue("last", priority=500)]))
    assert [(one.name, one.priority) for one in bind.run(pg, list_queues())] == [
        ("urgent", 0),
        ("usual", 100),
        ("last", 500),
    ]
    bind.run(pg, register_queues([Queue("urgent", priority=3)], fill=True))
    assert bind.run(pg, read_queues("urgent"))[0].priority == 0, "something was said of it"
    bind.run(pg, register_queues([Queue("usual", priority=50), Queue("urgent")]))
    assert {one.name: one.priority for one in bind.run(pg, list_queues())} == {
        "urgent": 100,
        "usual": 50,
        "last": 500,
    }
    told = pg.execute(
        "select before ->> 'priority', after ->> 'priority' from postmill.audit_log where target = 'usual' order by id"
    ).fetchall()
    assert told == [(None, "100"), ("100", "50")]
