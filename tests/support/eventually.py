"""Waiting for a condition, never for a time."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

SOONEST, LATEST = 0.005, 0.25
"""Seconds between two looks, at least and at most."""


def pause(began: float, looked: float) -> float:
    """Seconds until the next look, of a wait that began then and whose last look began at `looked`.

    A look that costs something (a query, a command) takes a fifth of the time at most, and who has waited long may wait
    a fifteenth of that again: what waits for other processes must not keep them from their work.
    """
    now = time.monotonic()
    return min(LATEST, max(SOONEST, (now - began) / 15, 4 * (now - looked)))


def eventually(predicate: Callable[[], T], timeout: float = 60.0, what: str = "") -> T:
    """Look until `predicate` answers something true, and return that.

    Raises:
        AssertionError: not within `timeout` seconds; says what the last answer was.
    """
    began = looked = time.monotonic()
    while not (answer := predicate()):
        if time.monotonic() > began + timeout:
            raise AssertionError(_missed(predicate, what, timeout, answer))
        time.sleep(pause(began, looked))
        looked = time.monotonic()
    return answer


async def aeventually(predicate: Callable[[], T | Awaitable[T]], timeout: float = 60.0, what: str = "") -> T:
    """`eventually` for async tests: the loop goes on, and `predicate` may be a coroutine function."""
    began = time.monotonic()
    while True:
        looked = time.monotonic()
        found = predicate()
        answer: T = await found if inspect.isawaitable(found) else found
        if answer:
            return answer
        if time.monotonic() > began + timeout:
            raise AssertionError(_missed(predicate, what, timeout, answer))
        await asyncio.sleep(pause(began, looked))


def _missed(predicate: object, what: str, timeout: float, answer: object) -> str:
    name = what or getattr(predicate, "__qualname__", repr(predicate))
    return f"{name} was not so within {timeout:g} s; last answer: {answer!r}"
