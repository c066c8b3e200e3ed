"""Waiting for a condition, never for a time."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

EVERY = 0.01
"""Seconds between two looks."""


def eventually(predicate: Callable[[], T], timeout: float = 10.0, what: str = "") -> T:
    """Look until `predicate` answers something true, and return that.

    Raises:
        AssertionError: not within `timeout` seconds; says what the last answer was.
    """
    deadline = time.monotonic() + timeout
    while not (answer := predicate()):
        if time.monotonic() > deadline:
            raise AssertionError(_missed(predicate, what, timeout, answer))
        time.sleep(EVERY)
    return answer


async def aeventually(predicate: Callable[[], T | Awaitable[T]], timeout: float = 10.0, what: str = "") -> T:
    """`eventually` for async tests: the loop goes on, and `predicate` may be a coroutine function."""
    deadline = time.monotonic() + timeout
    while True:
        found = predicate()
        answer: T = await found if inspect.isawaitable(found) else found
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(_missed(predicate, what, timeout, answer))
        await asyncio.sleep(EVERY)


def _missed(predicate: object, what: str, timeout: float, answer: object) -> str:
    name = what or getattr(predicate, "__qualname__", repr(predicate))
    return f"{name} was not so within {timeout:g} s; last answer: {answer!r}"
