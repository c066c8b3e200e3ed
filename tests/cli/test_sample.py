"""The command line that `postmill up` suggests."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from postmill import Context, job
from postmill.cli.sample import FORMATS, sample_line

SIZE = 'size:={"width": 5, "tags": ["text"]}'


class Size(BaseModel):
    width: int = Field(ge=5)
    tags: list[str]


@job
def bind(ctx: Context) -> int:
    return int(ctx.parents["read"].result)


@job
def resize(url: str, big: bool, times: int, at: datetime, id: UUID, size: Size, note: str = "") -> None: ...


@job
def unlock(pin: Annotated[str, Field(pattern="^[0-9]{4}$")]) -> None: ...


@job
def tidy(days: int = 3) -> None: ...


@job(strict_envelope=True)
def scan(week: int) -> None: ...


@pytest.mark.parametrize(
    ("known", "line"),
    [
        ([bind, unlock, tidy], "tidy --wait"),
        ([unlock, bind], "bind --wait"),
        ([unlock], "unlock pin=… --wait"),
        ([scan, tidy], "tidy --wait"),
        ([scan], "scan week=1 --tenant … --wait"),
        (
            [resize],
            f"resize url=text big=true times=1 at=2031-05-01T12:00:00Z id={FORMATS['uuid']} '{SIZE}' --wait",
        ),
    ],
)
def test_it_can_be_copied_as_it_is(known, line):
    assert sample_line(known) == f"postmill enqueue {line}"
