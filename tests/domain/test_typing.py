"""`@job` keeps the types: mypy checks the arguments of calls and of `.new`, without the context."""

from pathlib import Path

import pytest
from mypy import api

GOOD = """
from postmill.domain.context import HandlerContext
from postmill.domain.job import NewJob
from postmill.domain.job_type import job

class Context(HandlerContext): ...

@job
async def bare(to: str, copies: int = 1) -> str:
    return to

@job("named", queue="mail", max_attempts=3)
def named(ctx: Context, to: str) -> int:
    return 1

@job(timeout=None)
def empty(ctx: Context) -> None: ...

made: list[NewJob] = [
    bare.new("a"), bare.new(to="a", copies=2), named.new(to="a"), empty.new(),
    bare.using(priority=1, tenant="t").new("a"), bare.using(delay=1).using(key="k").new(to="a"),
    NewJob.of("bare", {"to": "a"}, priority=1).using(mode="window"),
]

async def call() -> str:
    number: int = named(Context(), "a")
    empty(Context())
    return await bare("a", copies=number)
"""

BAD = """
bare.new(to=1)
bare.new(too="a")
bare.new()
named.new(Context(), "a")
named("a")
bare.using(dealy=1)
bare.using(priority="high")
bare.using(delay=1).new(to=1)
job("x", max_attemps=1)
job("x", queue=1)
"""


def checked(folder: Path, text: str) -> list[str]:
    file = folder / "sample.py"
    file.write_text(text)
    root = Path(__file__).parents[2]
    out, problem, _ = api.run(["--strict", "--config-file", str(root / "pyproject.toml"), str(file)])
    assert not problem
    return [line for line in out.splitlines() if ": error:" in line]


@pytest.mark.timeout(300)
def test_right_uses_pass_and_wrong_ones_are_found(tmp_path: Path) -> None:
    assert checked(tmp_path, GOOD) == []
    errors = checked(tmp_path, GOOD + BAD)
    first = GOOD.count("\n") + 2
    lines = {int(line.split(":")[1]) for line in errors}
    assert lines == set(range(first, first + BAD.count("\n") - 1))
