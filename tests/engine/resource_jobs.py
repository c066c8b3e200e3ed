"""What test_resources.py runs in child processes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator

from postmill import Context, job, resource


def note(word: str) -> None:
    with open(os.environ["NOTES"], "a") as file:
        file.write(f"{word} {os.getpid()}\n")


@resource
async def awaited() -> AsyncIterator[str]:
    note("open awaited")
    yield "awaited"
    note("close awaited")


@resource
def plain() -> Iterator[str]:
    note("open plain")
    yield "plain"
    note("close plain")


@job(isolation="process")
async def coroutine_in_child(ctx: Context) -> list[str]:
    return [ctx.resource(awaited), ctx.resource(plain)]


@job(isolation="process")
def function_in_child(ctx: Context) -> list[str]:
    return [ctx.resource(awaited), ctx.resource(plain)]


@job(isolation="process")
def without_context() -> str:
    return "needs none"
