"""Job types for the tests of the helpers."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from postmill import Constant, Context, Snooze, enqueue, job, resource


@resource
def greeting() -> Iterator[str]:
    """What a real worker greets with."""
    yield "good day"


@job(retry=Constant(600), max_attempts=2)
def shaky(ctx: Context) -> None:
    """Fails at its first attempt."""
    if ctx.attempt == 1:
        raise ValueError("not yet")


@job(queue="mail")
async def greet(ctx: Context, who: str, number: UUID | None = None) -> str:
    """With a resource and progress."""
    ctx.progress(1, 2, "half")
    return f"{ctx.resource(greeting)}, {who} ({type(number).__name__})"


@job
def spread(ctx: Context, n: int) -> None:
    """Enqueues the next one in its own transaction."""
    with ctx.transaction() as transaction:
        if n:
            enqueue(transaction.connection, spread.new(n=n - 1))


@job
def later() -> None:
    """Decides to wait."""
    raise Snooze(60)
