"""Handlers of steps whose fate is a function of their names, so that an oracle without a database knows it, too."""

from __future__ import annotations

import zlib

from postmill import Bury, Cancel, Constant, Context, job
from tests.journey.handlers import note
from tests.support.flows import Fate

MOST = 200
"""Attempts: a worker that is killed uses one up of each job that it held."""
REGISTER = '[{"key": "step", "max_attempts": 200, "max_lost": 1000}, {"key": "undo", "max_attempts": 200, "max_lost": 1000}]'


def number(name: str) -> int:
    return zlib.crc32(name.encode())


def fate(name: str) -> Fate:
    """How a step ends that runs: 8 % fail, 3 % cancel themselves."""
    n = number(name) % 100
    return "failed" if n < 8 else "canceled" if n < 11 else "succeeded"


def fans(name: str) -> list[str]:
    """The steps that a step makes: 3 % make three of them. What was made makes none."""
    return [] if "." in name or number(name) // 100 % 100 >= 3 else [f"{name}.{n}" for n in (1, 2, 3)]


def flaky(name: str) -> bool:
    """Fails at its first attempt whatever its fate is."""
    return number(name) // 10_000 % 100 < 5


def exact(name: str) -> bool:
    """Its effect and its success are one commit."""
    return number(name) // 1_000_000 % 2 == 0


@job(max_attempts=MOST, retry=Constant(0.05))
async def step(ctx: Context, name: str, fan: bool = True) -> str:
    note(ctx, name)
    if any(parent.succeeded and parent.result != parent.name for parent in ctx.parents.values()):
        note(ctx, f"wrong {name}")
    if flaky(name) and ctx.attempt == 1:
        raise ConnectionError("once more")
    end = fate(name)
    if end == "failed":
        raise Bury("as its name says")
    if end == "canceled":
        raise Cancel("as its name says")
    made = fans(name) if fan else []
    if made:
        ctx.fan_out({one: step.new(name=one) for one in made})
    if exact(name):
        async with ctx.transaction() as tx:
            await tx.execute("insert into effect (job_id) values (%s)", (ctx.job.id,))
            tx.result = name
    return name


@job(max_attempts=MOST, retry=Constant(0.05))
async def undo(ctx: Context, name: str) -> None:
    note(ctx, f"undo {name}")
