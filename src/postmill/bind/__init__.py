"""Runs statements on the caller's own connection: no commit, no retry, no savepoint, no unwrapping.

The name decides: `run`, `step` and `drive` block, `arun`, `astep` and `adrive` are awaited. The kind of
connection decides the rest. An unknown kind, or one of the other colour, is a TypeError at once.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, TypeVar

from postmill.bind.failures import worded
from postmill.bind.lookup import awaiting_for, blocking_for, can_copy
from postmill.store.flow import Flow, Pause, Step
from postmill.store.statement import Statement

__all__ = ["adrive", "arun", "astep", "can_copy", "drive", "run", "step"]

T = TypeVar("T")


def run(conn: object, statement: Statement[T]) -> T:
    """Runs one statement and decodes its answer."""
    runner = blocking_for(conn)
    with worded(statement.name):
        rows = runner.fetch(conn, statement)
    return statement.decode(rows)


async def arun(conn: object, statement: Statement[T]) -> T:
    """Runs one statement and decodes its answer."""
    runner = awaiting_for(conn)
    with worded(statement.name):
        rows = await runner.fetch(conn, statement)
    return statement.decode(rows)


def step(conn: object, step: Step) -> Any:
    """Runs one step of a flow."""
    if isinstance(step, Statement):
        return run(conn, step)
    if isinstance(step, Pause):
        return time.sleep(step.seconds)
    load = blocking_for(conn).load
    assert load is not None, "a flow asks can_copy before it loads"
    with worded(step.name):
        return load(conn, step)


async def astep(conn: object, step: Step) -> Any:
    """Runs one step of a flow."""
    if isinstance(step, Statement):
        return await arun(conn, step)
    if isinstance(step, Pause):
        return await asyncio.sleep(step.seconds)
    load = awaiting_for(conn).load
    assert load is not None, "a flow asks can_copy before it loads"
    with worded(step.name):
        return await load(conn, step)


def drive(conn: object, flow: Flow[T]) -> T:
    """Runs a flow, step by step, and returns its answer."""
    blocking_for(conn)
    answer: Any = None
    while True:
        try:
            next_step = flow.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        answer = step(conn, next_step)


async def adrive(conn: object, flow: Flow[T]) -> T:
    """Runs a flow, step by step, and returns its answer."""
    awaiting_for(conn)
    answer: Any = None
    while True:
        try:
            next_step = flow.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        answer = await astep(conn, next_step)
